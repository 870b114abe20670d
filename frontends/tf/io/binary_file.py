"""Files that are written in a binary mode, and take texts as well, as TensorFlow's do."""

from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any


class BinaryFile:
    """A file that writes texts as UTF-8; in all else the one that it wraps."""

    def __init__(self, file: IO[bytes]) -> None:
        """Wraps a file that is open in a binary mode."""
        self._file = file

    def write(self, content: str | bytes) -> int:
        """Writes bytes, or a text."""
        return self._file.write(content.encode() if isinstance(content, str) else content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._file)

    def __enter__(self) -> "BinaryFile":
        self._file.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.__exit__(kind, error, traceback)
