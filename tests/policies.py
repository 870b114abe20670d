"""Whether this system lets threads be scheduled as batch work: Linux does, gVisor and some containers do not."""

import os
import subprocess
import sys

import pytest

_TRY = "import os; os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))"


def _has_batch() -> bool:
    if sys.platform != "linux" or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    return not subprocess.run(
        [sys.executable, "-c", _TRY], stderr=subprocess.DEVNULL, check=False
    ).returncode


needs_batch = pytest.mark.skipif(
    not _has_batch(), reason="this system schedules no thread as batch work"
)
