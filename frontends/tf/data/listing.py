"""Datasets of the names of files."""

import glob
import os
from typing import Any, Self, SupportsIndex

from frontends.tf.data import chunks
from frontends.tf.data import element as elements
from frontends.tf.data.base import DatasetBase
from frontends.tf.data.file_formats import paths
from frontends.tf.data.file_shards import own_files
from frontends.tf.data.row_sources import ArraySource
from frontends.tf.data.rows import Rows
from frontends.tf.data.shuffling import ShuffleOrder
from frontends.tf.data.stream import ready


class Listing(DatasetBase):
    """The method that finds files."""

    @classmethod
    def list_files(
        cls,
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: SupportsIndex | None = None,
        name: str | None = None,
    ) -> Self:
        """Finds files by patterns, now.

        Args:
            file_pattern: A pattern such as ``"data/*.tfrecord"``, or a list of them.
            shuffle: Give the names in another order in every pass; None means True. Set it to False
                before `shard`, or give a `seed`: otherwise each process would shard another order.
            seed: As in `shuffle`.
            name: Ignored.

        Returns:
            A dataset of paths, as text; sorted if they are not shuffled.

        Raises:
            FileNotFoundError: No file matches.
            TypeError: `seed` is neither an integer nor None.

        Examples:
            >>> import os, tempfile
            >>> from frontends.tf.data import Dataset
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     for name in ("a.txt", "b.txt", "c.csv"):
            ...         open(os.path.join(folder, name), "w").close()
            ...     found = Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False)
            >>> [os.path.basename(path) for path in found]
            ['a.txt', 'b.txt']

        Source: ``tf.data.Dataset.list_files``.
        """
        patterns = list(paths(file_pattern))
        found = sorted({path for pattern in patterns for path in glob.glob(pattern)})
        if not found:
            raise FileNotFoundError(
                f"list_files: no file matches {patterns} (in {os.getcwd()}).\nFix: the pattern."
            )
        names = elements.to_element(found)
        files = cls(
            lambda: Rows(ArraySource(names), lambda: chunks.counting(len(found))), len(found)
        )
        if shuffle in (None, True):
            order = ShuffleOrder(seed, True, "list_files")
            files = files._derive(lambda form: form.shuffle(len(found), order), len(found), order)
        return files._derive(
            lambda form: ready(lambda: own_files(form.elements()), form.spec, form), len(found)
        )
