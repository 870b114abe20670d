"""What a task and whoever restarts it tell each other."""

import re
from collections.abc import Mapping

# 128 + SIGTERM. Kubeflow's restart policy `ExitCode` treats codes from 128 on as retryable, and TensorFlow's
# PreemptionCheckpointHandler exits with this one after it has saved.
RETRYABLE_EXIT_CODE = 143
# Tells the script which attempt this is: 0 for the first, 1 after one restart.
RESTART_VARIABLE = "JAXTRIBUTE_RESTART"
# The last attempt that may train: some schedulers do not bound restarts that a task asks for by its exit code.
RESTART_LIMIT_VARIABLE = "JAXTRIBUTE_RESTART_LIMIT"
# Longer numbers are none that anybody counts to.
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)


def restarts_in(environment: Mapping[str, str]) -> int:
    """Returns which attempt the environment says that this is; 0 if it does not say so.

    Examples:
        >>> restarts_in({"JAXTRIBUTE_RESTART": "2"}), restarts_in({"JAXTRIBUTE_RESTART": "x"})
        (2, 0)
    """
    text = environment.get(RESTART_VARIABLE, "")
    return int(text) if _COUNT.fullmatch(text) else 0
