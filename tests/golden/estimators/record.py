"""Records what TensorFlow 2.15's estimators do: `make golden-estimators`, or `python -m tests.golden.estimators.record [WORDS]`.

Runs in an environment of its own, with the last TensorFlow that has estimators. Without words, lists the names of TensorFlow 1, too.
"""

import sys

from tests.golden import names_by_version
from tests.golden.estimators import SCENARIOS
from tests.golden.record import import_tensorflow, record
from tests.golden.recording import ESTIMATORS

if __name__ == "__main__":
    tensorflow = import_tensorflow()
    record(tensorflow, SCENARIOS, ESTIMATORS, sys.argv[1:])
    if not sys.argv[1:]:
        names_by_version.write(tensorflow)
