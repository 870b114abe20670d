"""How processes ended."""

import signal

import pytest

from spmd.launch.exit_status import describe_end, exit_status


@pytest.mark.parametrize(
    ("returncode", "text", "status"),
    [
        (0, "exit code 0", 0),
        (143, "exit code 143", 143),
        (-signal.SIGKILL, "SIGKILL", 137),
        (-signal.SIGABRT, "SIGABRT", 134),
        (-(signal.SIGRTMIN + 1), f"signal {signal.SIGRTMIN + 1}", 128 + signal.SIGRTMIN + 1),
    ],
)
def test_exit_codes_and_signals(returncode: int, text: str, status: int) -> None:
    assert describe_end(returncode) == text
    assert exit_status(returncode) == status
