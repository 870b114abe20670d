"""Datasets of datasets: made by `window`, and taken apart by functions that return datasets."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self, SupportsIndex

import jax

from frontends.tf._typing import Nested
from frontends.tf.data import cardinality
from frontends.tf.data.base import DatasetBase, function_of, integer, returned_dataset
from frontends.tf.data.constants import AUTOTUNE, UNKNOWN_CARDINALITY
from frontends.tf.data.parallel import worker_count
from frontends.tf.data.spec import DatasetSpec, tensor_specs
from spmd.input.pipeline import (
    Form,
    Lazy,
    call_once,
    grouped,
    in_memory,
    interleaved,
    peeking,
    ready,
    windows,
)

# TensorFlow takes the number of cores; then the order would depend on the machine.
_CYCLE = 8


class Nesting(DatasetBase):
    """The methods whose elements, or whose functions' results, are datasets themselves."""

    def window(
        self,
        size: SupportsIndex,
        shift: SupportsIndex | None = None,
        stride: SupportsIndex = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Makes datasets of elements that follow each other.

        Args:
            size: The number of elements of a window.
            shift: From the first element of a window to that of the next one; None means `size`.
            stride: From one element of a window to the next.
            drop_remainder: Leave out windows at the end that have fewer elements.

        Returns:
            A dataset of datasets; where an element is a tuple or dict, one of tuples or dicts of
            datasets, one for each component.

        Raises:
            TypeError: A number is not an integer.
            ValueError: A number is below 1.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> for window in Dataset.range(7).window(3, shift=2, drop_remainder=True):
            ...     print([int(x) for x in window])
            [0, 1, 2]
            [2, 3, 4]
            [4, 5, 6]

        Source: ``tf.data.Dataset.window``.
        """
        count = integer(size, "window: size", minimum=1)
        step = count if shift is None else integer(shift, "window: shift", minimum=1)
        every = integer(stride, "window: stride", minimum=1)
        drop = bool(drop_remainder)

        def transform(form: Form) -> Form:
            def split(group: Sequence[Nested]) -> Nested:
                columns = zip(*map(jax.tree.leaves, group), strict=True)
                parts = [self._of_elements(column) for column in columns]
                return jax.tree.unflatten(jax.tree.structure(group[0]), parts)

            return ready(
                lambda: map(split, windows(form.elements(), count, step, every, drop)),
                lambda: jax.tree.map(DatasetSpec, tensor_specs(form.spec())),
                form,
            )

        size_of_all = cardinality.window(self._cardinality, count, step, every, drop)
        return self._rebatched(transform, size_of_all, None)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Self:
        """Makes a dataset of every element, and reads these one after the other.

        Args:
            map_func: Takes an element, in NumPy values; a tuple is spread over its arguments. Returns
                a dataset; reading raises TypeError where it does not.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: `map_func` cannot be called.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(4).flat_map(lambda n: Dataset.range(n))]
            [0, 0, 1, 0, 1, 2]

        Source: ``tf.data.Dataset.flat_map``.
        """
        return self._interleaved("flat_map", map_func, 1, 1)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: SupportsIndex | None = None,
        block_length: SupportsIndex | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Makes a dataset of every element, and reads several of these in turns.

        Args:
            map_func: As in `flat_map`.
            cycle_length: How many datasets are read in turns. None means 8 on every machine, where
                TensorFlow takes the number of its cores.
            block_length: How many elements come from one before it is the next one's turn; None
                means 1.
            num_parallel_calls: Accepted; the datasets are read on the reader's thread.
            deterministic: Ignored: the order never depends on timing.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: `map_func` cannot be called, or a number is not an integer.
            ValueError: A number is out of range.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> numbers = Dataset.range(1, 4)
            >>> threes = numbers.interleave(
            ...     lambda n: Dataset.from_tensors(n).repeat(3), cycle_length=2, block_length=2
            ... )
            >>> [int(n) for n in threes]
            [1, 1, 2, 2, 1, 2, 3, 3, 3]

        Source: ``tf.data.Dataset.interleave``.
        """
        worker_count(num_parallel_calls)
        if cycle_length is None or cycle_length == AUTOTUNE:
            cycle_length = _CYCLE
        cycle = integer(cycle_length, "interleave: cycle_length", minimum=1)
        block = integer(
            1 if block_length is None else block_length, "interleave: block_length", minimum=1
        )
        return self._interleaved("interleave", map_func, cycle, block)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Any], Any],
        window_size: SupportsIndex | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Collects elements by a key, and makes a dataset of every group that is full.

        Groups that are not full at the end come last, in the order of their keys.

        Args:
            key_func: Takes an element, in NumPy values; a tuple is spread over its arguments.
                Returns an integer.
            reduce_func: Takes a key and a dataset of the elements of a group. Returns a dataset.
            window_size: The number of elements of a full group.
            window_size_func: Takes a key and returns that number, in place of `window_size`.

        Returns:
            A dataset of the elements of the groups' datasets, of unknown cardinality.

        Raises:
            TypeError: A function cannot be called.
            ValueError: Both or none of `window_size` and `window_size_func` were given.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> pairs = Dataset.range(7).group_by_window(
            ...     lambda x: x % 2, lambda key, group: group.batch(2), window_size=2
            ... )
            >>> [pair.tolist() for pair in pairs]
            [[0, 2], [1, 3], [4, 6], [5]]

        Source: ``tf.data.Dataset.group_by_window``.
        """
        key_of = function_of(key_func, "group_by_window: key_func")
        reduce_of = function_of(reduce_func, "group_by_window: reduce_func")
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "group_by_window: expected either window_size or window_size_func, got "
                f"{'none' if window_size is None else 'both'}.\nFix: window_size=batch_size"
            )
        if window_size is not None:
            integer(window_size, "window_size", minimum=1)

        def key(element: Nested) -> int:
            return integer(call_once(key_of, element), "group_by_window: the key")

        def size(number: int) -> int:
            wanted: Any = window_size if window_size_func is None else window_size_func(number)
            return integer(wanted, "group_by_window: the window size", minimum=1)

        def make(group: tuple[int, Sequence[Nested]]) -> DatasetBase:
            number, members = group
            return returned_dataset(
                reduce_of(number, self._of_elements(members)), "group_by_window"
            )

        return self._read_in_turns(
            lambda elements: map(make, grouped(elements, key, size)), cycle=1, block=1
        )

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Nested = None,
        padding_values: Nested = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Batches elements with others of similar length, padded to the longest of a batch.

        Args:
            element_length_func: Takes an element, in NumPy values; a tuple is spread over its
                arguments. Returns its length.
            bucket_boundaries: The lengths where the next bucket begins, ascending.
            bucket_batch_sizes: The batch size of each bucket; one more than boundaries.
            padded_shapes: As in `padded_batch`.
            padding_values: As in `padded_batch`.
            pad_to_bucket_boundary: Not supported; must be False.
            no_padding: Stack the elements as they are.
            drop_remainder: Leave out smaller batches at the end.

        Returns:
            A dataset of batches, of unknown cardinality.

        Raises:
            TypeError: `element_length_func` cannot be called.
            ValueError: The numbers of boundaries and batch sizes do not fit, or
                `pad_to_bucket_boundary` is set.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> import numpy as np
            >>> texts = Dataset.from_generator(lambda: map(np.ones, [1, 5, 2, 6, 3]))
            >>> batches = texts.bucket_by_sequence_length(len, [4], [2, 2])
            >>> [batch.shape for batch in batches]
            [(2, 2), (2, 6), (1, 3)]

        Source: ``tf.data.Dataset.bucket_by_sequence_length``.
        """
        length = function_of(element_length_func, "bucket_by_sequence_length: element_length_func")
        boundaries = [integer(each, "bucket_boundaries") for each in bucket_boundaries]
        sizes = [integer(each, "bucket_batch_sizes", minimum=1) for each in bucket_batch_sizes]
        if len(sizes) != len(boundaries) + 1:
            raise ValueError(
                f"bucket_by_sequence_length: {len(boundaries)} boundaries make "
                f"{len(boundaries) + 1} buckets, but there are {len(sizes)} batch sizes.\n"
                "Fix: one batch size for each bucket, the one of the longest elements last."
            )
        if pad_to_bucket_boundary:
            raise ValueError(
                "bucket_by_sequence_length: pad_to_bucket_boundary is not supported.\n"
                "Fix: padded_shapes, or leave it out to pad to the longest of a batch."
            )

        def bucket(*components: Any) -> int:
            rows = integer(length(*components), "bucket_by_sequence_length: the length")
            return sum(rows >= boundary for boundary in boundaries)

        def batch(number: int, group: Any) -> Any:
            if no_padding:
                return group.batch(sizes[number], drop_remainder)
            return group.padded_batch(sizes[number], padded_shapes, padding_values, drop_remainder)

        return self.group_by_window(bucket, batch, window_size_func=sizes.__getitem__)

    def _interleaved(self, name: str, map_func: Callable[..., Any], cycle: int, block: int) -> Self:
        function = function_of(map_func, f"{name}: map_func")

        def datasets_of(elements: Iterator[Nested]) -> Iterator[DatasetBase]:
            return (returned_dataset(call_once(function, each), name) for each in elements)

        return self._read_in_turns(datasets_of, cycle, block)

    def _read_in_turns(
        self,
        datasets_of: Callable[[Iterator[Nested]], Iterator[DatasetBase]],
        cycle: int,
        block: int,
    ) -> Self:
        """Makes a dataset of the elements of datasets, which are made of this one's elements."""

        def transform(form: Form) -> Form:
            def datasets() -> Iterator[DatasetBase]:
                return datasets_of(form.elements())

            def find_spec() -> Nested:
                with peeking():
                    first = next(datasets(), None)
                if first is None:
                    raise ValueError(
                        "element_spec: the dataset is empty, so there is no dataset to look at.\n"
                        "Fix: use it on a dataset with elements."
                    )
                return first._form().spec()

            def passes() -> Iterator[Iterator[Nested]]:
                return (dataset._form().elements() for dataset in datasets())

            return ready(lambda: interleaved(passes(), cycle, block), Lazy(find_spec), form)

        return self._rebatched(transform, UNKNOWN_CARDINALITY, None)

    def _of_elements(self, members: Sequence[Nested]) -> Self:
        """Makes a dataset of elements in memory."""
        return type(self)(lambda: in_memory(members), len(members))
