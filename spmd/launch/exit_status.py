"""How a process ended, in words and as an exit status."""

import signal

from spmd.cluster import RETRYABLE_EXIT_CODE

# What a program's own fault ends with, or JAX and gloo when another task is gone.
_CRASHES = frozenset(
    getattr(signal, name)
    for name in ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP")
    if hasattr(signal, name)
)


def describe_end(returncode: int) -> str:
    """Describes how a process ended, given its `subprocess.Popen.returncode`.

    Examples:
        >>> describe_end(1), describe_end(-9)
        ('exit code 1', 'SIGKILL')
    """
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        return signal.Signals(-returncode).name
    except ValueError:  # a real-time signal, which has no name
        return f"signal {-returncode}"


def exit_status(returncode: int) -> int:
    """Converts a `returncode` to an exit status: 128 plus the signal for minus the signal, as in a shell.

    Examples:
        >>> exit_status(1), exit_status(-9)
        (1, 137)
    """
    return returncode if returncode >= 0 else 128 - returncode


def was_killed(returncode: int) -> bool:
    """Tells whether a signal from outside ended a process, rather than a crash of its own.

    Examples:
        >>> was_killed(-signal.SIGTERM), was_killed(-signal.SIGSEGV), was_killed(1)
        (True, False, False)
    """
    return returncode < 0 and -returncode not in _CRASHES


def consequence_rank(returncode: int) -> int:
    """Ranks how likely a task ended because another one had: JAX aborts when a peer is gone.

    Examples:
        >>> consequence_rank(-9), consequence_rank(1), consequence_rank(143)
        (0, 1, 2)
    """
    if returncode in (RETRYABLE_EXIT_CODE, -signal.SIGABRT):
        return 2
    return int(returncode > 0)
