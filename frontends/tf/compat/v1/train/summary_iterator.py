"""`tf.compat.v1.train.summary_iterator`: the events of a file."""

import os
from collections.abc import Iterator
from typing import Any

from frontends.tf.summary.writer import require_tensorboard
from spmd.typing import StrPath


def summary_iterator(path: StrPath) -> Iterator[Any]:
    """Reads an event file from its beginning; a last event that is not complete yet is left out.

    Args:
        path: of the file.

    Yields:
        TensorBoard's `Event`s.

    Raises:
        ImportError: the package `tensorboard` is not installed.

    Source: `tf.compat.v1.train.summary_iterator`.
    """
    require_tensorboard()
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    yield from LegacyEventFileLoader(os.fspath(path)).Load()
