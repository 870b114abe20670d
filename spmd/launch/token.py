"""The secret that the tasks of a job prove to each other that they belong to it.

Ray authenticates every connection between parameter servers, workers and the coordinator with a token. It is made anew for
each job, and tasks find it in a file that nobody else can read: a command line shows what is in it to everyone.
"""

import contextlib
import secrets
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path

TOKEN_VARIABLE = "RAY_AUTH_TOKEN"
TOKEN_PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"


def make_token() -> str:
    """Makes a token that nobody can guess.

    Examples:
        >>> len(make_token())
        64
    """
    return secrets.token_hex(32)


@contextlib.contextmanager
def token_file(environment: Mapping[str, str]) -> Generator[dict[str, str]]:
    """Makes a token for a `with` block, in a file that only this user can read.

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
    with tempfile.TemporaryDirectory(prefix="jaxtribute-") as folder:  # only this user can enter it
        path = Path(folder) / "token"
        path.touch(mode=0o600)
        path.write_text(make_token())
        yield {TOKEN_PATH_VARIABLE: str(path)}
