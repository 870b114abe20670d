"""Where a dataset's elements come from."""

import os
import sys
from collections.abc import Callable, Iterable, Sized
from typing import Any, Self, SupportsIndex

import jax
import numpy as np

from frontends.tf._typing import DTypeLike, Nested
from frontends.tf.data import cardinality
from frontends.tf.data.base import DatasetBase, check_datasets, function_of, integer, shuffle_order
from frontends.tf.data.constants import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from frontends.tf.data.spec import as_dtype, declared_spec
from spmd.files import matching
from spmd.input.pipeline import (
    Paths,
    array_rows,
    generated,
    in_memory,
    is_stackable,
    iterated,
    leading_length,
    numbers,
    own_files,
    paths,
    random_numbers,
    ready,
    split,
    stack,
    to_element,
    zipped,
)


class NoMatchingFileError(FileNotFoundError, ValueError):
    """No file matches a pattern; TensorFlow raises `tf.errors.InvalidArgumentError`, which is `ValueError` here."""


class Sources(DatasetBase):
    """The methods that make a dataset of arrays, numbers, other datasets, Python code, or names of files."""

    @classmethod
    def from_tensor_slices(cls, tensors: Nested, name: str | None = None) -> Self:
        """Makes a dataset of the rows of arrays.

        The arrays are referred to, not copied: do not change them while the dataset is in use.
        Elements do not share memory with them.

        Args:
            tensors: An array-like of shape ``[rows, ...]``, or a tuple, dict or nested structure
                of them. A list is one array. NumPy arrays keep their dtype; Python numbers become
                int32 or float32.

        Returns:
            A dataset of `rows` elements.

        Raises:
            ValueError: There is no array, one is a scalar, or two of them differ in length.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> for row in Dataset.from_tensor_slices(([1, 2], [[3, 4], [5, 6]])):
            ...     print(row)
            (np.int32(1), array([3, 4], dtype=int32))
            (np.int32(2), array([5, 6], dtype=int32))

        Source: ``tf.data.Dataset.from_tensor_slices``.
        """
        arrays = to_element(tensors)
        length = leading_length(
            arrays, "from_tensor_slices", "from_tensors(value) makes a dataset of one element"
        )
        if length and any(map(is_stackable, jax.tree.leaves(arrays))):
            return cls(lambda: in_memory(list(split(arrays))), length)
        return cls(lambda: array_rows(arrays, length), length)

    @classmethod
    def from_tensors(cls, tensors: Nested, name: str | None = None) -> Self:
        """Makes a dataset of one element.

        Args:
            tensors: An array-like of any shape, or a structure of them.

        Returns:
            A dataset of one element.

        Raises:
            ValueError: There is no array.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> list(Dataset.from_tensors([1, 2]))
            [array([1, 2], dtype=int32)]

        Source: ``tf.data.Dataset.from_tensors``.
        """
        element = to_element(tensors)
        if any(map(is_stackable, jax.tree.leaves(element))):
            return cls(lambda: in_memory([element]), 1)
        arrays = stack([element])
        leading_length(arrays, "from_tensors", "")
        return cls(lambda: array_rows(arrays, 1), 1)

    @classmethod
    def range(
        cls, *args: SupportsIndex, output_type: DTypeLike = np.int64, name: str | None = None
    ) -> Self:
        """Makes a dataset of numbers in steps.

        Args:
            *args: ``stop``, or ``start, stop``, or ``start, stop, step``, as of Python's `range`.
            output_type: The numbers' dtype.

        Returns:
            A dataset of scalars.

        Raises:
            TypeError: An argument is not an integer.
            ValueError: None or more than three arguments, or a step of 0.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(1, 6, 2)]
            [1, 3, 5]

        Source: ``tf.data.Dataset.range``.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"range: expected 1 to 3 numbers (stop; start, stop; start, stop, step), got "
                f"{len(args)}.\nFix: range(stop)"
            )
        given = range(*(integer(arg, "range: every argument") for arg in args))
        # len() cannot count beyond sys.maxsize.
        length = max(0, -(-(given.stop - given.start) // given.step))
        dtype = as_dtype(output_type)
        return cls(lambda: numbers(given.start, given.step, dtype, length), length)

    @classmethod
    def counter(
        cls,
        start: SupportsIndex = 0,
        step: SupportsIndex = 1,
        dtype: DTypeLike = np.int64,
        name: str | None = None,
    ) -> Self:
        """Counts without end.

        Args:
            start: The first number.
            step: From one number to the next.
            dtype: The numbers' dtype.

        Returns:
            A dataset of scalars.

        Raises:
            TypeError: `start` or `step` is not an integer.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.counter(2, step=5).take(3)]
            [2, 7, 12]

        Source: ``tf.data.Dataset.counter``.
        """
        first, every = integer(start, "counter: start"), integer(step, "counter: step")
        kind = as_dtype(dtype)
        return cls(lambda: numbers(first, every, kind, None), INFINITE_CARDINALITY)

    @classmethod
    def random(
        cls,
        seed: SupportsIndex | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Draws random numbers without end; other ones than TensorFlow's for the same seed.

        Args:
            seed: An integer, or None. With the global seed it decides the numbers, as in `shuffle`.
            rerandomize_each_iteration: Other numbers for every pass; None means False.

        Returns:
            A dataset of int64 scalars from 0 to ``2**32 - 1``.

        Raises:
            TypeError: `seed` is neither an integer nor None.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> numbers = Dataset.random(seed=4).take(10)
            >>> [int(x) for x in numbers] == [int(x) for x in numbers]
            True

        Source: ``tf.data.Dataset.random``.
        """
        order = shuffle_order(seed, bool(rerandomize_each_iteration), "random")
        return cls(lambda: random_numbers(order), INFINITE_CARDINALITY, orders=[order])

    @classmethod
    def zip(cls, *args: Nested, datasets: Nested = None, name: str | None = None) -> Self:
        """Puts the elements of several datasets side by side.

        Args:
            *args: Datasets; or one tuple, dict or nested structure of them.
            datasets: The structure, by name.

        Returns:
            A dataset of elements of that structure, as many as the shortest dataset has.

        Raises:
            TypeError: A leaf of the structure is not a dataset, or is a list.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> pairs = Dataset.zip(Dataset.range(3), Dataset.range(10, 20))
            >>> [(int(a), int(b)) for a, b in pairs]
            [(0, 10), (1, 11), (2, 12)]

        Source: ``tf.data.Dataset.zip``.
        """
        if bool(args) == (datasets is not None):
            raise TypeError(
                "zip: expected datasets, either as arguments or as datasets=, got "
                f"{'both' if args else 'none'}.\nFix: Dataset.zip(a, b)"
            )
        if args:
            datasets = args[0] if len(args) == 1 else args
        parts, structure = jax.tree.flatten(datasets, is_leaf=lambda leaf: isinstance(leaf, list))
        if not parts:
            raise TypeError("zip: expected at least one dataset.\nFix: Dataset.zip(a, b)")
        lists = [part for part in parts if isinstance(part, list)]
        check_datasets(lists, "zip", "tuples or dicts of datasets: Dataset.zip(tuple(datasets))")
        check_datasets(parts, "zip")
        return cls._combined(
            parts,
            lambda forms: zipped(structure, forms),
            cardinality.zipped(part._cardinality for part in parts),
        )

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Nested = None,
        output_shapes: Nested = None,
        args: Iterable[Nested] | None = None,
        output_signature: Nested = None,
        name: str | None = None,
    ) -> Self:
        """Makes a dataset of what a Python generator yields.

        Args:
            generator: Called for every pass; returns an iterable.
            output_types: The dtypes of an element's components, in its structure.
            output_shapes: Their shapes, beside `output_types`.
            args: Arguments for `generator`, given to it as NumPy values.
            output_signature: The element's structure with a `tf.TensorSpec`, or another object
                with a shape and a dtype, at each leaf. Unlike in TensorFlow this may be left out; then
                elements are taken as they come.

        Returns:
            A dataset of unknown cardinality. Reading it raises TypeError or ValueError where an
            element is not as declared.

        Raises:
            TypeError: `generator` cannot be called, or the declaration is contradictory.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> def squares(n):
            ...     for i in range(n):
            ...         yield i * i
            >>> [int(x) for x in Dataset.from_generator(squares, args=(4,))]
            [0, 1, 4, 9]

        Source: ``tf.data.Dataset.from_generator``.
        """
        function = function_of(
            generator, "from_generator: generator", "from_generator(lambda: iterable)"
        )
        signature = declared_spec(output_signature, output_types, output_shapes)
        arguments = to_element(tuple(args or ()))

        return cls(lambda: generated(function, arguments, signature), UNKNOWN_CARDINALITY)

    @classmethod
    def from_grain(cls, dataset: Iterable[Any]) -> Self:
        """Makes a dataset of the elements of a Grain pipeline.

        Grain reads them with its own threads or processes, as the pipeline says. Every pass starts
        the pipeline anew.

        Args:
            dataset: A `grain.MapDataset`, `grain.IterDataset` or `grain.DataLoader`, or anything
                else that can be iterated over again and again (a TFDS data source, say).

        Returns:
            A dataset; its cardinality is known where `dataset` has a length.

        Raises:
            TypeError: `dataset` cannot be iterated over, or only once.

        Examples:
            >>> import grain
            >>> from frontends.tf.data import Dataset
            >>> pipeline = grain.MapDataset.range(3).map(lambda x: x * x)
            >>> [int(x) for x in Dataset.from_grain(pipeline)]
            [0, 1, 4]

        Source: no TensorFlow symbol.
        """
        iterates = hasattr(dataset, "__iter__") or hasattr(dataset, "__getitem__")
        if not iterates or hasattr(dataset, "__next__"):
            raise TypeError(
                "from_grain: expected a dataset that can be read more than once, got "
                f"{type(dataset).__name__}.\nFix: pass the grain dataset, not iter(dataset)"
            )
        length = len(dataset) if isinstance(dataset, Sized) else UNKNOWN_CARDINALITY
        # Grain gives a dataset that repeats without end the largest length that there is.
        infinite = length == sys.maxsize

        return cls(
            lambda: iterated(dataset, finite=not infinite),
            INFINITE_CARDINALITY if infinite else length,
        )

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
            NoMatchingFileError: No file matches; it is a `FileNotFoundError` and a `ValueError`, which
                `tf.errors.InvalidArgumentError` is.
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
        found = sorted({path for pattern in patterns for path in matching(pattern)})
        if not found:
            raise NoMatchingFileError(
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
