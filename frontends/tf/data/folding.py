"""Going through the elements in order, with something in hand: `reduce`, `scan` and their like."""

import itertools
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Self

import jax
import numpy as np

from frontends.tf.data import cardinality
from frontends.tf.data import element as elements
from frontends.tf.data import spec as specs
from frontends.tf.data.base import DatasetBase, function_of
from frontends.tf.data.constants import UNKNOWN_CARDINALITY
from frontends.tf.data.forms import Form, peek
from frontends.tf.data.lazy import Lazy
from frontends.tf.data.map_function import MapFunction
from frontends.tf.data.predicate import holds
from frontends.tf.data.stream import ready


class Folding(DatasetBase):
    """The methods in which what becomes of an element depends on those before it."""

    def reduce(
        self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None
    ) -> Any:
        """Combines all elements into one value; reads the dataset now.

        Args:
            initial_state: An array-like or a structure of them; a Python number has 32 bits.
            reduce_func: Takes the state and an element (a tuple as one argument); returns the new
                state, of the same structure and dtypes. Compiled where JAX can trace it, as in `map`.
            name: Ignored.

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
        function = MapFunction(function_of(reduce_func, "reduce: reduce_func"))
        state = _first_state(initial_state)
        for element in self:
            state = _next_state("reduce", state, function.one((state, element)))
        return state

    def scan(
        self,
        initial_state: Any,
        scan_func: Callable[[Any, Any], tuple[Any, Any]],
        name: str | None = None,
    ) -> Self:
        """Applies a function that hands a state on from element to element.

        Args:
            initial_state: An array-like or a structure of them; every pass begins with it.
            scan_func: Takes the state and an element (a tuple as one argument); returns the new
                state, of the same structure and dtypes, and an element. Compiled as in `map`.
            name: Ignored.

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
        function = MapFunction(function_of(scan_func, "scan: scan_func"))
        first = _first_state(initial_state)

        def transform(form: Form) -> Form:
            def open_pass() -> Iterator[Any]:
                state = first
                for element in form.elements():
                    result = function.one((state, element))
                    if not (isinstance(result, tuple) and len(result) == 2):
                        raise TypeError(
                            "scan: the function must return a pair of the new state and an element, "
                            f"got {type(result).__name__}.\nFix: return state, element"
                        )
                    state = _next_state("scan", state, result[0])
                    yield result[1]

            def find_spec() -> Any:
                given = specs.spec_of(first), form.spec()
                return function.output_spec(given, first_result)[1]

            def first_result() -> Any:
                element = peek(scanned)
                return None if element is None else (first, element)

            scanned = ready(open_pass, Lazy(find_spec), form)
            return scanned

        return self._rebatched(transform, self._cardinality, None)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """Keeps the elements before the first for which a function returns False.

        Args:
            predicate: As in `filter`.
            name: Ignored.

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
        function = MapFunction(function_of(predicate, "take_while: predicate"))

        def transform(form: Form) -> Form:
            def open_pass() -> Iterator[Any]:
                for element in form.elements():
                    if not holds(function, element):
                        return
                    yield element

            return ready(open_pass, form.spec)

        return self._derive(transform, UNKNOWN_CARDINALITY)

    def unique(self, name: str | None = None) -> Self:
        """Drops elements that are equal to one before.

        Args:
            name: Ignored.

        Returns:
            A dataset of unknown cardinality, in the order of first appearance.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> [int(x) for x in Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()]
            [1, 37, 2]

        Source: ``tf.data.Dataset.unique``.
        """

        def transform(form: Form) -> Form:
            def open_pass() -> Iterator[Any]:
                seen: set[Hashable] = set()
                for element in form.elements():
                    key = tuple(map(_hashable, jax.tree.leaves(element)))
                    if key not in seen:
                        seen.add(key)
                        yield element

            return ready(open_pass, form.spec, form)

        return self._derive(transform, cardinality.unbatch(self._cardinality))

    def get_single_element(self, name: str | None = None) -> Any:
        """Reads a dataset of one element.

        Args:
            name: Ignored.

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


def _first_state(value: Any) -> Any:
    return elements.canonicalize(elements.to_element(value))


def _next_state(op_name: str, old: Any, new: Any) -> Any:
    structures = jax.tree.structure(old), jax.tree.structure(new)
    if structures[0] != structures[1]:
        raise TypeError(
            f"{op_name}: the function must return a state like the one that it was given, "
            f"{structures[0]}, got {structures[1]}.\nFix: the same tuple or dict keys."
        )
    names = elements.component_names(old)
    for name, *pair in zip(names, jax.tree.leaves(old), jax.tree.leaves(new), strict=True):
        before, after = map(elements.dtype_of, pair)
        if before != after and not {before.kind, after.kind} <= set("US"):
            raise TypeError(
                f"{op_name}: the state is {before} ({name}), and the function returned {after}.\n"
                f"Fix: an initial state of that dtype, such as numpy.{after}(0)."
            )
    return new


def _hashable(leaf: Any) -> Hashable:
    if not isinstance(leaf, np.ndarray):
        return leaf
    # Text of equal content may have another width, and objects are pointers in memory.
    content = tuple(leaf.ravel().tolist()) if leaf.dtype.kind in "OUS" else leaf.tobytes()
    return leaf.shape, content
