"""Methods that change a dataset's elements: `map`, `filter`, `batch` and their like."""

from collections.abc import Callable, Sequence
from typing import Any, Self, SupportsIndex

from frontends.tf._typing import DTypeLike, Nested
from frontends.tf.data import cardinality
from frontends.tf.data.base import (
    DatasetBase,
    integer,
    map_function,
    returned_dataset,
    with_tuple_for_list,
)
from frontends.tf.data.constants import UNKNOWN_CARDINALITY
from frontends.tf.data.parallel import worker_count
from frontends.tf.ragged.batches import ragged_stack
from spmd.input.pipeline import Padding, batched_by, enumerated, padded, rebatched


class Transforms(DatasetBase):
    """The methods that change the elements."""

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Applies a function to every element.

        A function that JAX can trace is compiled for the host CPU and, where the elements are rows
        that `batch` stacks later, called with whole batches: Python runs it a few times
        altogether. (A strategy on GPUs or TPUs has the last functions run there, if they make rows
        larger.) As in a TensorFlow graph, side effects, `numpy.random` and what it reads from
        outside then happen once, while it is traced. `tf.random` and `tf.image.random_*` draw other numbers for each
        element, which are the same whatever size batches have.
        Arrays that it closes over should be NumPy arrays, not arrays spread over a mesh.

        Any other function (NumPy calls, text, files, draws in a loop) is called for each element
        with NumPy values, which it may overwrite. An exception that it raises there reaches the
        reader as it is. The log (level INFO) says which functions are not compiled, and why.

        Numbers that come out have JAX's dtypes either way: at most 32 bits, unless
        ``jax_enable_x64`` is set. An integer that does not fit raises OverflowError.

        Args:
            map_func: Takes an element; a tuple is spread over its arguments. Returns an element; a list with tensors in it,
                as `tf.io.decode_csv` returns, counts as a tuple.
            num_parallel_calls: For functions that are not compiled: how many threads call them;
                `AUTOTUNE` means one per core, None the reader's own. Compiled ones use all cores. Where threads
                wait long for each other, processes take over from them, if the function only computes what it returns.
            deterministic: Ignored: elements keep their order.

        Returns:
            A dataset of the results.

        Raises:
            TypeError: `map_func` cannot be called.
            ValueError: `num_parallel_calls` is below 1 and not `AUTOTUNE`.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> halves = Dataset.range(4).map(lambda x: x / 2)
            >>> next(iter(halves.batch(4)))
            array([0. , 0.5, 1. , 1.5], dtype=float32)

            >>> from frontends import tf
            >>> noisy = Dataset.range(4).map(
            ...     lambda x: tf.cast(x, tf.float32) + tf.random.uniform([])
            ... )
            >>> len({float(x) % 1 for x in noisy})
            4

        Source: ``tf.data.Dataset.map``.
        """
        function = map_function(map_func, "map: map_func", with_tuple_for_list)
        workers = worker_count(num_parallel_calls)
        return self._derive(lambda form: form.map(function, workers), self._cardinality)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """Keeps the elements for which a function returns True.

        Args:
            predicate: Takes an element; a tuple is spread over its arguments. Returns one boolean;
                reading raises TypeError where it does not. Compiled like the
                function of `map`, where it can be.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: `predicate` cannot be called.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(6).filter(lambda x: x % 2 == 0)]
            [0, 2, 4]

        Source: ``tf.data.Dataset.filter``.
        """
        function = map_function(predicate, "filter: predicate")
        return self._derive(lambda form: form.filter(function), UNKNOWN_CARDINALITY)

    def batch(
        self,
        batch_size: SupportsIndex,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Stacks consecutive elements.

        Rows of arrays in memory are taken in one gather, at the speed of copying them: 25 times as
        fast as stacking them one by one, for rows of 100 bytes, and 10 times for 28x28 images.

        Args:
            batch_size: How many elements; at least 1.
            drop_remainder: Leave the last batch out if it has fewer.

        Returns:
            A dataset of elements with components of shape ``[batch_size, ...]``. Reading it raises
            ValueError or TypeError, naming the component, where shapes or dtypes differ.

        Raises:
            TypeError: `batch_size` is not an integer.
            ValueError: `batch_size` is below 1.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [x.tolist() for x in Dataset.range(5).batch(2)]
            [[0, 1], [2, 3], [4]]

        Source: ``tf.data.Dataset.batch``.
        """
        size = integer(batch_size, "batch: batch_size", minimum=1)
        drop = bool(drop_remainder)
        return self._rebatched(
            lambda form: form.batch(size, drop),
            cardinality.batch(self._cardinality, size, drop),
            size,
        )

    def padded_batch(
        self,
        batch_size: SupportsIndex,
        padded_shapes: Nested = None,
        padding_values: Nested = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Stacks elements whose components differ in size, padded at their ends.

        Args:
            batch_size: At least 1.
            padded_shapes: A shape for each component, in the structure of an element. None or -1 in a
                shape stands for the largest size in the batch. None altogether pads every axis so.
            padding_values: A scalar for each component, in the structure of an element, or one scalar
                for all; None stands for zero, or empty text.
            drop_remainder: Drop a last batch of fewer elements.

        Returns:
            A dataset of batches. Reading it raises ValueError where a component is larger than its
            padded shape or has other axes, and TypeError where structures or dtypes do not fit.

        Raises:
            TypeError: `batch_size` is not an integer.
            ValueError: `batch_size` is below 1.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> import numpy as np
            >>> counts = Dataset.range(1, 5).map(lambda x: np.full(int(x), x))
            >>> for batch in counts.padded_batch(2):
            ...     print(batch.tolist())
            [[1, 0], [2, 2]]
            [[3, 3, 3, 0], [4, 4, 4, 4]]

        Source: ``tf.data.Dataset.padded_batch``.
        """
        size = integer(batch_size, "padded_batch: batch_size", minimum=1)
        drop = bool(drop_remainder)
        padding = Padding(padded_shapes, padding_values)

        return self._rebatched(
            lambda form: padded(form, size, drop, padding),
            cardinality.batch(self._cardinality, size, drop),
            size,
        )

    def ragged_batch(
        self,
        batch_size: SupportsIndex,
        drop_remainder: bool = False,
        row_splits_dtype: DTypeLike = "int64",
        name: str | None = None,
    ) -> Self:
        """Stacks elements whose components differ in size, as ragged tensors.

        Components without axes become arrays, and so do arrays in memory that a compiled map has made, whose sizes are known to
        be the same.

        Args:
            batch_size: At least 1.
            drop_remainder: Drop a last batch of fewer elements.
            row_splits_dtype: Accepted; splits have int64.

        Returns:
            A dataset of batches, whose components are `tf.RaggedTensor`s in host memory.

        Raises:
            TypeError: `batch_size` is not an integer.
            ValueError: `batch_size` is below 1.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> import numpy as np
            >>> counts = Dataset.range(1, 4).map(lambda x: np.full(int(x), x))
            >>> [batch.to_list() for batch in counts.ragged_batch(2)]
            [[[1], [2, 2]], [[3, 3, 3]]]

        Source: ``tf.data.Dataset.ragged_batch``.
        """
        size = integer(batch_size, "ragged_batch: batch_size", minimum=1)
        drop = bool(drop_remainder)
        return self._rebatched(
            lambda form: batched_by(form, size, drop, ragged_stack),
            cardinality.batch(self._cardinality, size, drop),
            size,
        )

    def rebatch(
        self,
        batch_size: SupportsIndex | Sequence[SupportsIndex],
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Makes batches of another size out of batches.

        Args:
            batch_size: The new size, or several, which take turns.
            drop_remainder: Drop a last batch of fewer rows.

        Returns:
            A dataset of unknown cardinality, unless it is endless.

        Raises:
            TypeError: A size is not an integer.
            ValueError: A size is below 1, or there is none.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [x.tolist() for x in Dataset.range(6).batch(2).rebatch(3)]
            [[0, 1, 2], [3, 4, 5]]
            >>> [x.tolist() for x in Dataset.range(6).batch(4).rebatch([2, 1])]
            [[0, 1], [2], [3, 4], [5]]

        Source: ``tf.data.Dataset.rebatch``.
        """
        given: Any = batch_size
        sizes = [
            integer(size, "rebatch: batch_size", minimum=1)
            for size in (given if hasattr(given, "__len__") else [given])
        ]
        if not sizes:
            raise ValueError("rebatch: expected at least one batch size.\nFix: rebatch(batch_size)")
        drop = bool(drop_remainder)

        return self._rebatched(
            lambda form: rebatched(form, sizes, drop),
            cardinality.unbatch(self._cardinality),
            sizes[0] if len(sizes) == 1 else None,
        )

    def unbatch(self, name: str | None = None) -> Self:
        """Makes every row of every element an element.

        Returns:
            A dataset of unknown cardinality, unless there are no elements or no end of them.
            Reading it raises ValueError where a component is a scalar.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(3).batch(2).unbatch()]
            [0, 1, 2]

        Source: ``tf.data.Dataset.unbatch``.
        """
        return self._rebatched(
            lambda form: form.unbatch(), cardinality.unbatch(self._cardinality), None
        )

    def enumerate(self, start: SupportsIndex = 0, name: str | None = None) -> Self:
        """Puts a number in front of every element.

        Args:
            start: The first number.

        Returns:
            A dataset of pairs ``(number, element)``; the number is int64.

        Raises:
            TypeError: `start` is not an integer.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [(int(i), int(x)) for i, x in Dataset.range(7, 9).enumerate(start=1)]
            [(1, 7), (2, 8)]

        Source: ``tf.data.Dataset.enumerate``.
        """
        first = integer(start, "enumerate: start")
        return self._rebatched(lambda form: enumerated(form, first), self._cardinality, None)

    def apply(self, transformation_func: Callable[[Self], Any]) -> Any:
        """Calls a function with this dataset.

        Args:
            transformation_func: Takes a dataset, returns a dataset.

        Returns:
            What the function returns.

        Raises:
            TypeError: That is not a dataset.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> def every_other(dataset):
            ...     return dataset.shard(2, 0)
            >>> [int(x) for x in Dataset.range(5).apply(every_other)]
            [0, 2, 4]

        Source: ``tf.data.Dataset.apply``.
        """
        return returned_dataset(transformation_func(self), "apply")
