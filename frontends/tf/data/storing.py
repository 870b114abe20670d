"""Methods that write a dataset's elements to files, and read them again."""

from collections.abc import Callable
from typing import Any, Self

from frontends.tf.data.base import DatasetBase
from spmd.input.pipeline import Form, is_stored, ready, stored, stored_count, written
from spmd.typing import StrPath

_COMPRESSIONS = {None: False, "": False, "NONE": False, "AUTO": False, "GZIP": True}


class Storing(DatasetBase):
    """The methods about files of elements."""

    def save(
        self,
        path: StrPath,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes all elements to a folder; reads the dataset now.

        The files are this package's own: TensorFlow does not read them, nor is the reverse possible.

        Args:
            path: the folder; replaced if it holds a dataset.
            compression: None or `"GZIP"`.
            shard_func: Accepted; not used: there is one file.
            checkpoint_args: Accepted; not used.

        Raises:
            TypeError: elements are no numbers and texts in tuples and dicts.
            ValueError: there is no such compression.

        Examples:
            >>> import os, tempfile
            >>> from frontends.tf.data import Dataset
            >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
            >>> Dataset.range(3).save(path)
            >>> [int(x) for x in Dataset.load(path)]
            [0, 1, 2]

        Source: ``tf.data.Dataset.save``.
        """
        for _ in written(self._form().elements(), _path(path), _is_packed(compression, "save")):
            pass

    @classmethod
    def load(
        cls,
        path: StrPath,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Self:
        """Makes a dataset of the elements that `save` wrote.

        Args:
            path: the folder.
            element_spec: Accepted; not used: the folder says it.
            compression: Accepted; not used: the folder says it.
            reader_func: Accepted; not used: elements come in the order in which they were saved.
            wait: Accepted; must be False.

        Raises:
            FileNotFoundError: the folder holds no dataset.
            ValueError: `wait` is set.

        Source: ``tf.data.Dataset.load``.
        """
        if wait:
            raise ValueError(
                "load: wait=True is not supported.\nFix: load once save has returned, or save of all tasks."
            )
        where = _path(path)
        return cls(lambda: stored(where), stored_count(where))

    def snapshot(
        self,
        path: StrPath,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Writes the elements to a folder during the first complete pass, and reads them from there later, in later runs too.

        Nothing tells whether the dataset has changed since: delete the folder when it has.

        Args:
            path: the folder.
            compression: None or `"AUTO"`, or `"GZIP"`.
            reader_func: Accepted; not used.
            shard_func: Accepted; not used.

        Returns:
            A dataset of the same elements.

        Raises:
            ValueError: there is no such compression.

        Source: ``tf.data.Dataset.snapshot``.
        """
        where, packed = _path(path), _is_packed(compression, "snapshot")

        def transform(form: Form) -> Form:
            def elements() -> Any:
                if is_stored(where):
                    return stored(where).elements()
                return written(form.elements(), where, packed)

            return ready(elements, form.spec, form)

        return self._derive(transform, self._cardinality)


def _path(path: StrPath) -> str:
    return path.decode() if isinstance(path, bytes) else str(path)


def _is_packed(compression: str | None, op_name: str) -> bool:
    if compression not in _COMPRESSIONS:
        raise ValueError(
            f"{op_name}: compression must be None or 'GZIP', got {compression!r}.\nFix: compression='GZIP'"
        )
    return _COMPRESSIONS[compression]
