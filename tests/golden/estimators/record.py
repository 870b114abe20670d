"""Records what TensorFlow 2.15's estimators do: `make golden-estimators`, or `python -m tests.golden.estimators.record [WORDS]`.

Runs in an environment of its own, with the last TensorFlow that has estimators.
"""

import sys

from tests.golden.estimators import SCENARIOS
from tests.golden.record import import_tensorflow, record
from tests.golden.recording import ESTIMATORS

if __name__ == "__main__":
    record(import_tensorflow(), SCENARIOS, ESTIMATORS, sys.argv[1:])
