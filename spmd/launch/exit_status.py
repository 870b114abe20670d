"""How processes end, in words and as an exit status."""

import signal

# What Python's subprocess gives as minus the signal, shells give as 128 plus it.
_SIGNALLED = 128


def describe_end(returncode: int) -> str:
    """Says how a process ended.

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
    """Gives the status with which the launcher passes on how a process ended.

    Args:
        returncode: `subprocess.Popen.returncode`.

    Returns:
        The status, as a shell would give it.

    Examples:
        >>> exit_status(1), exit_status(-9)
        (1, 137)
    """
    return returncode if returncode >= 0 else _SIGNALLED - returncode
