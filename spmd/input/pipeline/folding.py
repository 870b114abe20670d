"""Going through the elements in order while keeping a state: `scan`, `unique` and their like."""

import dataclasses
from collections.abc import Hashable, Iterator

import jax
import numpy as np

from spmd.input.pipeline.element import (
    Component,
    Element,
    canonicalize,
    component_names,
    dtype_of,
    to_element,
)
from spmd.input.pipeline.forms import Form, Item, peek
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction, holds
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.spec import Specs, spec_of
from spmd.input.pipeline.stream import Stream, ready
from spmd.typing import PyTree


def first_state(value: PyTree) -> Element:
    """Converts a structure of array-likes to a state, which has JAX's dtypes."""
    return canonicalize(to_element(value))


def next_state(op_name: str, old: Element, new: Element) -> Element:
    """Returns a function's new state, once it is checked to be like the one before.

    Raises:
        TypeError: It differs in structure, or a component in dtype.
    """
    structures = jax.tree.structure(old), jax.tree.structure(new)
    if structures[0] != structures[1]:
        raise TypeError(
            f"{op_name}: the function must return a state like the one that it was given, "
            f"{structures[0]}, got {structures[1]}.\nFix: the same tuple or dict keys."
        )
    names = component_names(old)
    for name, *pair in zip(names, jax.tree.leaves(old), jax.tree.leaves(new), strict=True):
        before, after = map(dtype_of, pair)
        if before != after and not {before.kind, after.kind} <= set("US"):
            raise TypeError(
                f"{op_name}: the state is {before} ({name}), and the function returned {after}.\n"
                f"Fix: an initial state of that dtype, such as numpy.{after}(0)."
            )
    return new


def scanned(form: Form, function: MapFunction, first: Element) -> Stream:
    """Applies a function of the state and an element, which returns the next state and an element.

    Args:
        form: The elements.
        function: Takes a pair and returns a pair.
        first: The state in which every pass begins; see `first_state`.
    """

    def open_pass() -> Iterator[Element]:
        state = first
        for element in form.elements():
            result = function.one((state, element))
            if not (isinstance(result, tuple) and len(result) == 2):
                raise TypeError(
                    "scan: the function must return a pair of the new state and an element, "
                    f"got {type(result).__name__}.\nFix: return state, element"
                )
            state = next_state("scan", state, result[0])
            yield result[1]

    def find_spec() -> Specs:
        given = spec_of(first), form.spec()
        return function.output_spec(given, first_result)[1]

    def first_result() -> Element | None:
        element = peek(scan)
        return None if element is None else (first, element)

    scan = ready(open_pass, Lazy(find_spec), form)
    return scan


def taken_while(form: Form, predicate: MapFunction) -> Stream:
    """Keeps the elements before the first for which the predicate does not hold."""

    def open_pass() -> Iterator[Element]:
        for element in form.elements():
            if not holds(predicate, element):
                return
            yield element

    return ready(open_pass, form.spec)


def unique(form: Form) -> Stream:
    """Drops elements that are equal to an earlier one."""

    def open_pass() -> Iterator[Element]:
        seen: set[Hashable] = set()
        for element in form.elements():
            key = tuple(map(_hashable, jax.tree.leaves(element)))
            if key not in seen:
                seen.add(key)
                yield element

    return ready(open_pass, form.spec, form)


def counted(form: Form, expected: int) -> Form:
    """Checks how many elements a pass has.

    Args:
        form: The elements.
        expected: How many there must be; negative for no end.
    """
    size = len if isinstance(form, Rows) else lambda item: 1

    def open_pass() -> Iterator[Item]:
        found = 0
        for items in form.open():
            found += size(items)
            if found > expected >= 0:
                break
            yield items
        else:
            if found == expected:
                return
        raise ValueError(
            f"assert_cardinality: expected {'no end' if expected < 0 else expected} and the dataset "
            f"has {'more' if found > expected >= 0 else found} elements.\n"
            "Fix: the number, or take(number) before it."
        )

    return dataclasses.replace(form, open=open_pass, finite=expected >= 0)


def _hashable(leaf: Component) -> Hashable:
    if not isinstance(leaf, np.ndarray):
        return leaf
    # Text of equal content may have another width, and objects are pointers in memory.
    content = tuple(leaf.ravel().tolist()) if leaf.dtype.kind in "OUS" else leaf.tobytes()
    return leaf.shape, content
