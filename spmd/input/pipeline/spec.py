"""Element specs: the shape and dtype of every component of a dataset's elements."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import numpy as np

from spmd.input.pipeline import element as elements
from spmd.typing import PyTree

# `ArraySpec`s in the structure of an element.
Specs: TypeAlias = Any
# Sizes, None for one that varies or is not known; None altogether where the number of axes is not known.
PartialShape: TypeAlias = tuple[int | None, ...] | None

# Sizes to trace with in place of an unknown one; an output dimension that differs is unknown too.
_PROBES = (7, 11)


@dataclasses.dataclass(frozen=True)
class StackableSpec:
    """What is known of a component that is no array, but knows what a batch of such components is.

    Attributes:
        kind: the class of a batch of them.
        shape: sizes, None for one that varies.
        dtype: of what is in it.
        depth: how often components were stacked to one like this.
    """

    kind: type
    shape: tuple[int | None, ...]
    dtype: np.dtype
    depth: int = 0

    def batched(self, rows: int | None) -> "StackableSpec":
        """Returns what is known of a batch."""
        return StackableSpec(self.kind, (rows, *self.shape), self.dtype, self.depth + 1)

    def of_row(self) -> "StackableSpec":
        """Returns what is known of a component of a batch."""
        return StackableSpec(self.kind, self.shape[1:], self.dtype, self.depth - 1)


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """The shape and dtype of one component.

    Args:
        shape: A sequence of sizes, None for one that varies or is not known; or None altogether
            where not even the number of dimensions is known.
        dtype: Anything that `numpy.dtype` takes.
        stackable: What is known besides of a component that is `Stackable`.

    Examples:
        >>> ArraySpec([None, 28], np.float32)
        ArraySpec(shape=(None, 28), dtype=dtype('float32'))
    """

    shape: PartialShape
    dtype: np.dtype
    stackable: StackableSpec | None = dataclasses.field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", None if self.shape is None else tuple(self.shape))
        object.__setattr__(self, "dtype", np.dtype(self.dtype))


def spec_of(element: elements.Element) -> Specs:
    """Returns the specs of an element, in its structure."""
    return jax.tree.map(_component_spec, element)


def batch_spec(spec: Specs, rows: int | None) -> Specs:
    """Returns the specs of batches with `rows` rows (None: not always the same)."""
    return jax.tree.map(
        lambda leaf: ArraySpec(
            _prepend(rows, leaf.shape), leaf.dtype, leaf.stackable and leaf.stackable.batched(rows)
        ),
        spec,
    )


def row_spec(spec: Specs) -> Specs:
    """Returns the specs of the rows of batches."""
    return jax.tree.map(
        lambda leaf: ArraySpec(
            leaf.shape and leaf.shape[1:], leaf.dtype, leaf.stackable and leaf.stackable.of_row()
        ),
        spec,
    )


def common_spec(first: Specs, second: Specs) -> Specs:
    """Returns the specs that elements of both kinds meet.

    Raises:
        TypeError: The structures or a component's dtypes differ.
    """
    if jax.tree.structure(first) != jax.tree.structure(second):
        raise TypeError(
            "concatenate: both datasets must have elements of the same structure, got "
            f"{first} and {second}.\nFix: map() one of them to the structure of the other."
        )
    names = elements.component_names(first)
    leaves = zip(names, jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return jax.tree.unflatten(jax.tree.structure(first), [_relax(*each) for each in leaves])


def varying_like(spec: Specs, found: Specs) -> Specs:
    """Returns `found`, with rows that vary in number if those of `spec` do.

    Args:
        spec: The specs of what a function was called with.
        found: The specs of one of its results.
    """
    inputs, outputs = jax.tree.leaves(spec), jax.tree.leaves(found)
    varies = all(leaf.shape is None or leaf.shape[:1] == (None,) for leaf in inputs)
    return batch_spec(row_spec(found), None) if varies and all(o.shape for o in outputs) else found


def is_concrete(spec: Specs) -> bool:
    """Tells whether every dimension is known."""
    return all(leaf.shape is not None and None not in leaf.shape for leaf in jax.tree.leaves(spec))


def shape_dtypes(spec: Specs, size: int) -> PyTree:
    """Returns what `jax.eval_shape` takes for elements of `spec`, with `size` for unknown sizes."""

    def convert(leaf: ArraySpec) -> jax.ShapeDtypeStruct:
        if leaf.shape is None:
            raise TypeError("a component's number of axes is not known")
        shape = tuple(size if dimension is None else dimension for dimension in leaf.shape)
        return jax.ShapeDtypeStruct(shape, elements.jax_dtype(leaf.dtype))

    return jax.tree.map(convert, spec)


def result_spec(function: Callable[[Any], PyTree], spec: Specs) -> Specs:
    """Returns the specs of what `function` returns for elements of `spec`, without running it.

    Unknown sizes of `spec` stay unknown in what depends on them.

    Raises:
        Exception: Whatever the function, or JAX, raises while it is traced.
    """
    probes = _PROBES[:1] if is_concrete(spec) else _PROBES
    found = [spec_of(jax.eval_shape(function, shape_dtypes(spec, size))) for size in probes]
    return common_spec(found[0], found[-1])


def _component_spec(leaf: elements.Component) -> ArraySpec:
    if elements.is_stackable(leaf):
        known = StackableSpec(*leaf.described())
        if isinstance(leaf, np.ndarray):  # the number of its rows varies
            return ArraySpec((None, *leaf.shape[1:]), leaf.dtype, known)
        return ArraySpec((), np.dtype(object), known)
    return ArraySpec(getattr(leaf, "shape", ()), np.dtype(getattr(leaf, "dtype", object)))


def _prepend(rows: int | None, shape: PartialShape) -> PartialShape:
    return None if shape is None else (rows, *shape)


def _relax(name: str, first: ArraySpec, second: ArraySpec) -> ArraySpec:
    same_text = first.dtype.kind == second.dtype.kind and first.dtype.kind in "US"
    if first.dtype != second.dtype and not same_text:
        raise TypeError(
            f"concatenate: {name} is {first.dtype} in the first dataset and {second.dtype} in the "
            "second.\nFix: convert one of them, in NumPy or with map()."
        )
    dtype = max(first.dtype, second.dtype, key=lambda dtype: dtype.itemsize)
    shape = _relax_shape(first.shape, second.shape)
    return ArraySpec(shape, dtype, _common_stackable(first.stackable, second.stackable))


def _common_stackable(
    first: StackableSpec | None, second: StackableSpec | None
) -> StackableSpec | None:
    if first is None or second is None:
        return None
    shape = _relax_shape(first.shape, second.shape)
    if shape is None or (first.kind, first.depth) != (second.kind, second.depth):
        return None
    return StackableSpec(first.kind, shape, first.dtype, first.depth)


def _relax_shape(first: PartialShape, second: PartialShape) -> PartialShape:
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))
