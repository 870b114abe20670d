"""`tf.TensorSpec`, and what says it of a dataset's elements."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import numpy as np

from frontends.tf._typing import DTypeLike, Nested, TensorLike
from frontends.tf._user_view import as_dtype_seen, seen_by_users
from frontends.tf.tensor_shape import TensorShape
from spmd.input.pipeline import ArraySpec, StackableSpec


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
        object.__setattr__(self, "shape", None if self.shape is None else TensorShape(self.shape))
        dtype = as_dtype(self.dtype)
        # Texts have one dtype, however long they are.
        object.__setattr__(self, "dtype", np.dtype(str) if dtype.kind in "SU" else dtype)

    @classmethod
    def from_tensor(cls, tensor: TensorLike, name: str | None = None) -> "TensorSpec":
        """Makes the spec of an array's shape and dtype."""
        return cls(np.shape(tensor), getattr(tensor, "dtype", np.float32), name)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tells whether one array can have both this spec and another, or that of a value."""
        other = spec_or_value
        same_dtype = self.dtype == as_dtype(other.dtype)
        return same_dtype and TensorShape(self.shape).is_compatible_with(TensorShape(other.shape))

    def __repr__(self) -> str:
        return (
            f"TensorSpec(shape={self.shape}, dtype={as_dtype_seen(self.dtype)}, name={self.name!r})"
        )


_dtype = seen_by_users(
    lambda spec: vars(spec)["dtype"],
    lambda spec: as_dtype_seen(vars(spec)["dtype"]),
    "Type of the elements.",
)
# Behind the class's back: to a dataclass, it would be the default of the field.
TensorSpec.dtype = _dtype.setter(lambda spec, dtype: vars(spec).update(dtype=dtype))


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

    element_spec: Nested
    shape: ClassVar[tuple[int, ...]] = ()
    dtype: ClassVar[np.dtype] = np.dtype(object)


def dtype_on_host(dtype: DTypeLike) -> np.dtype:
    """Returns a NumPy dtype for values of ragged and sparse tensors: texts have one, however they are kept."""
    found = as_dtype(dtype)
    return np.dtype(str) if found.kind in "OSU" else found


def as_dtype(dtype: DTypeLike) -> np.dtype:
    """Converts a dtype of NumPy, JAX or TensorFlow (which need not be installed) to NumPy's."""
    return np.dtype(getattr(dtype, "as_numpy_dtype", dtype))


# By class of components that are no arrays: what makes their specs. The modules of these specs enter themselves.
SPECS_OF: dict[type, Callable[[StackableSpec], Any]] = {}


def tensor_specs(spec: Nested) -> Nested:
    """Returns a pipeline's specs under TensorFlow's name."""
    return jax.tree.map(_tensor_spec, spec)


def _tensor_spec(leaf: Any) -> Any:
    if not isinstance(leaf, ArraySpec):
        return leaf
    if leaf.stackable is not None:
        return SPECS_OF[leaf.stackable.kind](leaf.stackable)
    return TensorSpec(leaf.shape, leaf.dtype)


def declared_spec(
    output_signature: Nested, output_types: Nested, output_shapes: Nested
) -> Nested | None:
    """Returns the pipeline's specs for what `from_generator` was given, or None.

    Raises:
        TypeError: Both ways to declare them were used, or shapes without types.
    """
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError(
                "from_generator: output_types and output_shapes are the old way to say what "
                "output_signature says; got both.\nFix: keep output_signature."
            )
        return jax.tree.map(_declared, output_signature)
    if output_types is None:
        if output_shapes is not None:
            raise TypeError(
                "from_generator: output_shapes needs output_types beside it.\n"
                "Fix: output_signature=tf.TensorSpec(shape, dtype)"
            )
        return None
    if output_shapes is None:
        return jax.tree.map(lambda dtype: ArraySpec(None, as_dtype(dtype)), output_types)
    return jax.tree.map(
        lambda dtype, shape: ArraySpec(shape, as_dtype(dtype)), output_types, output_shapes
    )


def _declared(leaf: Any) -> ArraySpec:
    kind = getattr(leaf, "value_type", None)
    if kind not in SPECS_OF:
        return ArraySpec(leaf.shape, as_dtype(leaf.dtype))
    shape, depth = TensorShape(leaf.shape), getattr(leaf, "ragged_rank", 0)
    known = StackableSpec(kind, tuple(shape), leaf.dtype, depth) if shape.rank is not None else None
    return ArraySpec(None, np.dtype(object), known)
