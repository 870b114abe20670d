"""The token that tasks and programs of one cluster share: where it comes from, and what it must be."""

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path

from spmd.cluster import TOKEN_PATH_VARIABLE as TOKEN_PATH
from spmd.cluster import TOKEN_VARIABLE as TOKEN
from spmd.servers.remote.errors import TokenError

TOKEN_HELP = (
    "Give every task the same secret token, of 32 characters or more: write it to a file that only you can read, and set "
    f"{TOKEN_PATH} to its path."
)
_LENGTH = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def is_given() -> bool:
    """Tells whether the environment names a token.

    Raises:
        TokenError: the token is too short, or its file cannot be read, or others can read it.
    """
    token, path = os.environ.get(TOKEN), os.environ.get(TOKEN_PATH)
    if token:  # Ray prefers it, too
        _check_length(token, TOKEN, "export RAY_AUTH_TOKEN=$(openssl rand -hex 32)")
    elif path:
        _check_file(path)
    return bool(token or path)


def own_token() -> Path:
    """Returns the file with this user's token for clusters of one machine; makes it if there is none.

    Raises:
        TokenError: as for a token that is given.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jaxtribute"
    path = folder / "ray-token"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder)  # only this user can read it
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
        os.unlink(name)
    _check_file(str(path))
    return path


def _check_file(path: str) -> None:
    try:
        token = Path(path).read_text().strip()
        mode = stat.S_IMODE(os.stat(path).st_mode)
        # That of a Kubernetes Secret has the modes that its pod says, and nobody else is in the pod.
        is_mounted = bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (OSError, ValueError) as error:
        raise TokenError(f"The token cannot be read: {error}. {TOKEN_HELP}") from None
    if mode & _OTHERS and not is_mounted:
        raise TokenError(
            f"The token's file {path} has the mode {mode:04o}, so other users of this machine have access to it: expected "
            f"0600. Whoever has the token can run code in all tasks. Make another token, or if no other user can have read "
            f"this one: chmod 600 {path}"
        )
    make = f"(umask 077; openssl rand -hex 32 > {path}), and copy it to all machines"
    _check_length(token, f"the file {path}, which {TOKEN_PATH} names,", make)


def _check_length(token: str, source: str, make: str) -> None:
    if len(token) < _LENGTH:
        found = f"has {len(token)} characters" if token else "is empty"
        raise TokenError(
            f"The token in {source} {found}: expected {_LENGTH} or more, so that nobody can guess it. Make one for all tasks: "
            f"{make}."
        )
