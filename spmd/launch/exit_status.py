"""How a process ended, in words and as an exit status."""

import signal

# Python's subprocess reports minus the signal, shells 128 plus it.
_SIGNALLED = 128


def describe_end(returncode: int) -> str:
    """Describes how a process ended.

    Args:
        returncode: `subprocess.Popen.returncode`: minus the signal for a process that one killed.

    Returns:
        The exit code, or the signal's name.

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
    """Converts how a process ended to an exit status.

    Args:
        returncode: `subprocess.Popen.returncode`.

    Returns:
        The status, as a shell would give it.

    Examples:
        >>> exit_status(1), exit_status(-9)
        (1, 137)
    """
    return returncode if returncode >= 0 else _SIGNALLED - returncode
