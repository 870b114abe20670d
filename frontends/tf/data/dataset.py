"""`tf.data.Dataset`."""

import functools
from collections.abc import Iterator
from typing import Any, NoReturn, Self, final

import numpy as np

import frontends.tf.sparse.spec  # noqa: F401 (which enters how ragged and sparse elements are described)
from frontends.tf._typing import Nested
from frontends.tf.data.constants import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from frontends.tf.data.folding import Folding
from frontends.tf.data.iterator import DatasetIterator
from frontends.tf.data.mixing import Mixing
from frontends.tf.data.nesting import Nesting
from frontends.tf.data.numpy_elements import as_numpy
from frontends.tf.data.one_shot import make_initializable_iterator, make_one_shot_iterator
from frontends.tf.data.options import Options
from frontends.tf.data.reordering import Reordering
from frontends.tf.data.sifting import Sifting
from frontends.tf.data.sources import Sources
from frontends.tf.data.spec import tensor_specs
from frontends.tf.data.storing import Storing
from frontends.tf.data.tracing import check_may_read
from frontends.tf.data.transforms import Transforms
from spmd.input.pipeline import LastMaps

# What TensorFlow's Dataset has and this one lacks; for the error alone.
_MISSING = frozenset(
    {
        "fingerprint",
        "from_tensor_slices_with_options",
        "sparse_batch",
    }
)


class _DatasetMeta(type(Sources)):
    """Answers for missing class methods (``Dataset.list_files``) as for missing methods."""

    def __getattr__(cls, name: str) -> NoReturn:
        raise _no_attribute(name)


class _Count(np.int64):
    """A number of elements, which has `numpy()` as TensorFlow's tensors have."""

    def numpy(self) -> np.int64:
        return np.int64(self)


@final
class Dataset(
    Sources,
    Mixing,
    Reordering,
    Transforms,
    Folding,
    Nesting,
    Sifting,
    Storing,
    metaclass=_DatasetMeta,
):
    """A sequence of elements, which can be read any number of times.

    Made by the methods that `Sources` and `Mixing` list; each of the others returns a new dataset and leaves
    this one as it is. Nothing is read, traced or compiled before the first element is asked for (or
    `element_spec`), so a dataset may be defined before the strategy.

    Elements are NumPy arrays (scalars for rank 0), or tuples, dicts and nested structures of them.
    Passes are independent of each other, and may be read on any thread.

    Examples:
        >>> from frontends.tf.data import Dataset
        >>> import numpy as np
        >>> images, labels = np.zeros((5, 28, 28), np.uint8), np.arange(5)
        >>> dataset = Dataset.from_tensor_slices((images, labels)).shuffle(5, seed=1).batch(2)
        >>> for x, y in dataset:
        ...     print(x.shape, y.shape)
        (2, 28, 28) (2,)
        (2, 28, 28) (2,)
        (1, 28, 28) (1,)

    Source: ``tf.data.Dataset``.
    """

    @property
    def element_spec(self) -> Nested:
        """The shape and dtype of every component, as `TensorSpec` in the structure of an element.

        Where neither tracing nor a declaration can tell, the first element is looked at.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> Dataset.range(5).batch(2).element_spec
            TensorSpec(shape=(None,), dtype=int64, name=None)

        Source: ``tf.data.Dataset.element_spec``.
        """
        return tensor_specs(self._form().spec())

    def cardinality(self) -> np.int64:
        """Returns the number of elements, without reading them.

        Returns:
            The count, `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> print(Dataset.range(5).batch(2).cardinality())
            3

        Source: ``tf.data.Dataset.cardinality``.
        """
        return _Count(self._cardinality)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Starts a pass, as ``iter(dataset)`` does.

        Returns:
            An iterator over the elements, whose arrays are NumPy's own, without a tensor's methods; texts are bytes.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> next(Dataset.range(3, 5).as_numpy_iterator())
            np.int64(3)

        Source: ``tf.data.Dataset.as_numpy_iterator``.
        """
        check_may_read()
        return DatasetIterator(self._form().elements(), self, show=as_numpy)

    def make_one_shot_iterator(self) -> Any:
        """Makes an iterator; see `tf.compat.v1.data.make_one_shot_iterator`.

        Source: ``tf.compat.v1.data.Dataset.make_one_shot_iterator``.
        """
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """Makes an iterator; see `tf.compat.v1.data.make_initializable_iterator`.

        Source: ``tf.compat.v1.data.Dataset.make_initializable_iterator``.
        """
        return make_initializable_iterator(self, shared_name)

    def with_options(self, options: Options, name: str | None = None) -> Self:
        """Returns the dataset with settings, which override those that it has.

        Args:
            options: The settings.

        Returns:
            A dataset of the same elements.

        Raises:
            TypeError: `options` is not a `tf.data.Options`.

        Examples:
            >>> from frontends.tf.data import Dataset, Options
            >>> Dataset.range(3).with_options(Options(deterministic=True)).options().deterministic
            True

        Source: ``tf.data.Dataset.with_options``.
        """
        return type(self)(
            self._form,
            self._cardinality,
            self.full_batch_rows,
            self._orders,
            self._options.merge(options),
        )

    @functools.cached_property
    def _last_maps(self) -> tuple[Self, LastMaps]:
        """This dataset without its last map functions, and these."""
        # Kept, so that a dataset that is distributed anew for every epoch is not compiled anew.
        maps = LastMaps(self._form)
        return self._derive(lambda _: maps.form(), self._cardinality), maps

    def options(self) -> Options:
        """Returns the settings of this dataset and of those that it was made from.

        Returns:
            A copy: to change them, use `with_options`.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> print(Dataset.range(3).options().deterministic)
            None

        Source: ``tf.data.Dataset.options``.
        """
        return Options().merge(self._options)

    def __iter__(self) -> DatasetIterator:
        check_may_read()
        return DatasetIterator(self._form().elements(), self)

    def __len__(self) -> int:
        if self._cardinality == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.\nFix: take(count), or steps_per_epoch.")
        if self._cardinality == UNKNOWN_CARDINALITY:
            raise TypeError(
                "The dataset length is unknown: it must be read to be counted.\nFix: "
                "dataset.apply(tf.data.experimental.assert_cardinality(count)), if you know it."
            )
        return self._cardinality

    def __bool__(self) -> bool:
        return True  # __len__ would make an empty dataset false, and an infinite one raise

    def __repr__(self) -> str:
        return f"<Dataset cardinality={self._cardinality}>"

    def __getattr__(self, name: str) -> NoReturn:
        raise _no_attribute(name)


def _no_attribute(name: str) -> AttributeError:
    message = f"'Dataset' has no attribute {name!r}"
    if name in _MISSING:
        existing = ", ".join(sorted(key for key in dir(Dataset) if not key.startswith("_")))
        message = (
            f"tf.data.Dataset.{name} exists in TensorFlow and not here. What exists: {existing}.\n"
            "Fix: NumPy before from_tensor_slices, a Python generator with from_generator, or a "
            "Grain pipeline with from_grain."
        )
    return AttributeError(message, name=name)
