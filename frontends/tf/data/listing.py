"""Datasets of the names of files."""

import glob
import os
from typing import Self, SupportsIndex

from frontends.tf.data.base import DatasetBase, shuffle_order
from spmd.input.pipeline import Paths, array_rows, own_files, paths, ready, to_element


class Listing(DatasetBase):
    """The method that finds files."""

    @classmethod
    def list_files(
        cls,
        file_pattern: Paths,
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
        names = to_element(found)
        files = cls(lambda: array_rows(names, len(found)), len(found))
        if shuffle in (None, True):
            order = shuffle_order(seed, True, "list_files")
            files = files._derive(lambda form: form.shuffle(len(found), order), len(found), order)
        return files._derive(
            lambda form: ready(lambda: own_files(form.elements()), form.spec, form), len(found)
        )
