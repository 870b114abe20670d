"""The secret that the tasks of a job prove to each other that they belong to it.

Tasks that train together prove it when they meet, and Ray does for every connection between parameter servers, workers and
the coordinator. It is made anew for each job, and tasks find it in a file that nobody else can read: a command line shows what is in it to everyone.
"""

import contextlib
import secrets
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path

from spmd.cluster import TOKEN_PATH_VARIABLE, TOKEN_VARIABLE, read_token
from spmd.errors import ClusterStartError, LaunchError
from spmd.launch.guard import Guard


def make_token() -> str:
    """Makes a token that nobody can guess.

    Examples:
        >>> len(make_token())
        64
    """
    return secrets.token_hex(32)


def token_to_render(own: Mapping[str, str], tasks: Mapping[str, str]) -> str:
    """Makes the token of a job that starts elsewhere, unless there is one.

    Args:
        own: environment variables of this process; a token that they name is taken, so that a program on this machine
            can connect to the job.
        tasks: environment variables that the user sets for the tasks.

    Returns:
        The token; empty if the tasks are told of one.

    Raises:
        LaunchError: the file with the token cannot be read.

    Examples:
        >>> token_to_render({"RAY_AUTH_TOKEN": "secret"}, {})
        'secret'
        >>> token_to_render({}, {"RAY_AUTH_TOKEN_PATH": "/run/token"})
        ''
    """
    if tasks.get(TOKEN_PATH_VARIABLE):
        return ""
    try:
        token = read_token(own, "Write one, or unset the variable to have one made.")
    except ClusterStartError as error:
        raise LaunchError(str(error)) from error
    return token.decode() or make_token()


@contextlib.contextmanager
def token_file(environment: Mapping[str, str]) -> Generator[dict[str, str]]:
    """Makes a token for a `with` block, in a file that only this user can read; it goes even if this process is killed.

    Args:
        environment: environment variables of all tasks; a token that they name already is left alone.

    Yields:
        The environment variables that tell tasks about it.

    Examples:
        >>> with token_file({}) as variables:
        ...     len(Path(variables["RAY_AUTH_TOKEN_PATH"]).read_text())
        64
        >>> with token_file({"RAY_AUTH_TOKEN_PATH": "/run/token"}) as variables:
        ...     variables
        {}
    """
    if environment.get(TOKEN_VARIABLE) or environment.get(TOKEN_PATH_VARIABLE):
        yield {}
        return
    guard = Guard()
    try:
        folder = Path(tempfile.mkdtemp(prefix="jaxtribute-"))  # only this user can enter it
        guard.remove(folder)
        path = folder / "token"
        path.touch(mode=0o600)
        path.write_text(make_token())
        yield {TOKEN_PATH_VARIABLE: str(path)}
    finally:
        guard.close()
