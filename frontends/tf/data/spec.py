"""Element specs: the shape and dtype of every component of a dataset's elements."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import numpy as np

from frontends.tf.data import element as elements

# Sizes to trace with in place of an unknown one; an output dimension that differs is unknown too.
_PROBES = (7, 11)


@dataclasses.dataclass(frozen=True, repr=False)
class TensorSpec:
    """The shape and dtype of one component.

    Args:
        shape: A sequence of sizes, None for one that varies or is not known; or None altogether
            where not even the number of dimensions is known.
        dtype: Anything that `numpy.dtype` takes.
        name: Kept as it is.

    Examples:
        >>> import numpy as np
        >>> from frontends.tf.data.spec import TensorSpec
        >>> TensorSpec((None, 28), np.float32)
        TensorSpec(shape=(None, 28), dtype=float32, name=None)

    Source: ``tf.TensorSpec``.
    """

    shape: Any
    dtype: Any = np.float32
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", None if self.shape is None else tuple(self.shape))
        object.__setattr__(self, "dtype", as_dtype(self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype}, name={self.name!r})"


@dataclasses.dataclass(frozen=True)
class DatasetSpec:
    """A component that is a dataset itself, as `Dataset.window` makes them.

    Args:
        element_spec: The specs of the dataset's elements.

    Examples:
        >>> from frontends.tf.data import Dataset
        >>> Dataset.range(6).window(2).element_spec
        DatasetSpec(element_spec=TensorSpec(shape=(), dtype=int64, name=None))

    Source: ``tf.data.DatasetSpec``.
    """

    element_spec: Any
    shape: ClassVar[tuple[int, ...]] = ()
    dtype: ClassVar[np.dtype] = np.dtype(object)


def as_dtype(dtype: Any) -> np.dtype:
    """Converts a dtype of NumPy, JAX or TensorFlow (which need not be installed) to NumPy's."""
    return np.dtype(getattr(dtype, "as_numpy_dtype", dtype))


def spec_of(element: Any) -> Any:
    """Returns the specs of an element, in its structure."""
    return jax.tree.map(_component_spec, element)


def batched(spec: Any, rows: int | None) -> Any:
    """Returns the specs of batches with `rows` rows (None: not always the same)."""
    return jax.tree.map(lambda leaf: _with_shape(leaf, _prepend(rows, leaf.shape)), spec)


def unbatched(spec: Any) -> Any:
    """Returns the specs of the rows of batches."""
    return jax.tree.map(lambda leaf: _with_shape(leaf, leaf.shape and leaf.shape[1:]), spec)


def relaxed(first: Any, second: Any) -> Any:
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


def varying_like(spec: Any, found: Any) -> Any:
    """Returns `found`, with rows that vary in number if those of `spec` do.

    Args:
        spec: The specs of what a function was called with.
        found: The specs of one of its results.
    """
    inputs, outputs = jax.tree.leaves(spec), jax.tree.leaves(found)
    varies = all(leaf.shape is None or leaf.shape[:1] == (None,) for leaf in inputs)
    return batched(unbatched(found), None) if varies and all(o.shape for o in outputs) else found


def is_concrete(spec: Any) -> bool:
    """Says whether every dimension is known."""
    return all(leaf.shape is not None and None not in leaf.shape for leaf in jax.tree.leaves(spec))


def shape_dtypes(spec: Any, size: int) -> Any:
    """Returns what `jax.eval_shape` takes for elements of `spec`, with `size` for unknown sizes."""

    def convert(leaf: TensorSpec) -> jax.ShapeDtypeStruct:
        shape = tuple(size if dimension is None else dimension for dimension in leaf.shape)
        return jax.ShapeDtypeStruct(shape, elements.jax_dtype(leaf.dtype))

    return jax.tree.map(convert, spec)


def traced(function: Callable[[Any], Any], spec: Any) -> Any:
    """Returns the specs of what `function` returns for elements of `spec`, without running it.

    Unknown sizes of `spec` stay unknown in what depends on them.

    Raises:
        Exception: Whatever the function, or JAX about it, raises while it is traced.
    """
    probes = _PROBES[:1] if is_concrete(spec) else _PROBES
    found = [spec_of(jax.eval_shape(function, shape_dtypes(spec, size))) for size in probes]
    return relaxed(found[0], found[-1])


def _component_spec(leaf: Any) -> TensorSpec:
    return TensorSpec(getattr(leaf, "shape", ()), getattr(leaf, "dtype", object))


def _with_shape(spec: TensorSpec, shape: tuple[int | None, ...] | None) -> TensorSpec:
    return TensorSpec(shape, spec.dtype)


def _prepend(rows: int | None, shape: tuple[int | None, ...] | None) -> Any:
    return None if shape is None else (rows, *shape)


def _relax(name: str, first: TensorSpec, second: TensorSpec) -> TensorSpec:
    same_text = first.dtype.kind == second.dtype.kind and first.dtype.kind in "US"
    if first.dtype != second.dtype and not same_text:
        raise TypeError(
            f"concatenate: {name} is {first.dtype} in the first dataset and {second.dtype} in the "
            "second.\nFix: convert one of them, in NumPy or with map()."
        )
    dtype = max(first.dtype, second.dtype, key=lambda dtype: dtype.itemsize)
    return TensorSpec(_relax_shape(first.shape, second.shape), dtype)


def _relax_shape(first: Any, second: Any) -> Any:
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))
