"""Files with tokens, for tests of tasks and programs that are given one."""

from pathlib import Path


def token_file(folder: Path, token: str = "x" * 32) -> Path:
    """Writes a token to a file that only this user can read; returns its path."""
    path = folder / "token"
    path.touch(0o600)
    path.write_text(token)
    return path
