"""Going through the elements in order while keeping a state: `reduce`, `scan` and their like."""

import itertools
from collections.abc import Callable
from typing import Any, Self

from frontends.tf._typing import Nested
from frontends.tf.data import cardinality
from frontends.tf.data.base import DatasetBase, map_function
from frontends.tf.data.constants import UNKNOWN_CARDINALITY
from frontends.tf.data.host_tensors import as_tensors
from spmd.input.pipeline import first_state, next_state, scanned, taken_while, unique


class Folding(DatasetBase):
    """The methods in which what becomes of an element depends on those before it."""

    def reduce(
        self, initial_state: Nested, reduce_func: Callable[[Any, Any], Any], name: str | None = None
    ) -> Any:
        """Combines all elements into one value; reads the dataset now.

        Args:
            initial_state: An array-like or a structure of them; a Python number has 32 bits.
            reduce_func: Takes the state and an element (a tuple as one argument); returns the new
                state, of the same structure and dtypes. Compiled where JAX can trace it, as in `map`.

        Returns:
            The last state.

        Raises:
            TypeError: `reduce_func` cannot be called, or changes the state's structure or dtypes.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> print(Dataset.range(5).reduce(0, lambda total, x: total + x))
            10

        Source: ``tf.data.Dataset.reduce``.
        """
        function = map_function(reduce_func, "reduce: reduce_func")
        state = first_state(initial_state)
        for element in self:
            state = next_state("reduce", state, function.one((state, element)))
        return as_tensors(state)

    def scan(
        self,
        initial_state: Nested,
        scan_func: Callable[[Any, Any], tuple[Any, Any]],
        name: str | None = None,
    ) -> Self:
        """Applies a function that hands a state on from element to element.

        Args:
            initial_state: An array-like or a structure of them; every pass begins with it.
            scan_func: Takes the state and an element (a tuple as one argument); returns the new
                state, of the same structure and dtypes, and an element. Compiled as in `map`.

        Returns:
            A dataset of the elements that the function returns. Reading it raises TypeError where it
            returns no pair, or a state of another kind.

        Raises:
            TypeError: `scan_func` cannot be called.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> sums = Dataset.range(1, 5).scan(0, lambda total, x: (total + x, total + x))
            >>> [int(x) for x in sums]
            [1, 3, 6, 10]

        Source: ``tf.data.Dataset.scan``.
        """
        function = map_function(scan_func, "scan: scan_func")
        first = first_state(initial_state)

        return self._rebatched(lambda form: scanned(form, function, first), self._cardinality, None)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """Keeps the elements before the first for which a function returns False.

        Args:
            predicate: As in `filter`.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: `predicate` cannot be called.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.range(9).take_while(lambda x: x < 3)]
            [0, 1, 2]

        Source: ``tf.data.Dataset.take_while``.
        """
        function = map_function(predicate, "take_while: predicate")
        return self._derive(lambda form: taken_while(form, function), UNKNOWN_CARDINALITY)

    def unique(self, name: str | None = None) -> Self:
        """Drops elements that are equal to one before.

        Returns:
            A dataset of unknown cardinality, in the order of first appearance.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()]
            [1, 37, 2]

        Source: ``tf.data.Dataset.unique``.
        """
        return self._derive(unique, cardinality.unbatch(self._cardinality))

    def get_single_element(self, name: str | None = None) -> Any:
        """Reads a dataset of one element.

        Returns:
            The element.

        Raises:
            ValueError: There is none, or more than one.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> print(Dataset.range(4).batch(4).get_single_element())
            [0 1 2 3]

        Source: ``tf.data.Dataset.get_single_element``.
        """
        found = list(itertools.islice(self, 2))
        if len(found) != 1:
            raise ValueError(
                "get_single_element: expected a dataset of one element, and this one has "
                f"{'more' if found else 'none'}.\nFix: batch(count) makes many elements one, take(1) "
                "keeps the first."
            )
        return found[0]
