"""The file by which an evaluator knows that training has ended, where no `max_steps` says so."""

import contextlib
import json
import uuid
from typing import Any

from spmd.files import StorePath, path_of
from spmd.typing import StrPath

_NAME = "training_ended.json"


class EndMark:
    """A file in an estimator's folder: the process that writes checkpoints makes it after the last, and removes it when it trains on."""

    def __init__(self, folder: StrPath, max_steps: int | None) -> None:
        """Names it.

        Args:
            folder: of the estimator.
            max_steps: at which global step training ends at the latest; a mark of training with another limit is another one.
        """
        self._folder, self._max_steps = path_of(folder), max_steps
        self._path = self._folder.joinpath(_NAME)

    def remove(self) -> None:
        """Removes it, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    def write(self) -> None:
        """Makes it; whoever reads it meanwhile finds none."""
        text = json.dumps({"max_steps": self._max_steps, "id": uuid.uuid4().hex})
        self._folder.mkdir(parents=True, exist_ok=True)
        if isinstance(self._path, StorePath):  # a store never shows part of a file
            self._path.write_text(text)
            return
        new = self._path.with_name(f"{_NAME}.new")
        new.write_text(text)
        new.replace(self._path)

    def read(self) -> str | None:
        """Returns what tells it from other marks; None if there is none."""
        try:
            found: Any = json.loads(self._path.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return str(found["id"]) if found["max_steps"] == self._max_steps else None
