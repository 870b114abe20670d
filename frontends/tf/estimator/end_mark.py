"""The file by which an evaluator knows that training has ended, where no `max_steps` says so."""

import contextlib
import json
import os
import uuid
from typing import Any

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
        self._folder, self._max_steps = os.fspath(folder), max_steps
        self._path = os.path.join(self._folder, _NAME)

    def remove(self) -> None:
        """Removes it, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._path)

    def write(self) -> None:
        """Makes it; whoever reads it meanwhile finds none."""
        text = json.dumps({"max_steps": self._max_steps, "id": uuid.uuid4().hex})
        os.makedirs(self._folder, exist_ok=True)
        with open(f"{self._path}.new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{self._path}.new", self._path)

    def read(self) -> str | None:
        """Returns what tells it from other marks; None if there is none."""
        try:
            with open(self._path, encoding="utf-8") as file:
                found: Any = json.load(file)
        except (FileNotFoundError, ValueError):
            return None
        return str(found["id"]) if found["max_steps"] == self._max_steps else None
