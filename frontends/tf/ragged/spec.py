"""`tf.RaggedTensorSpec`."""

import dataclasses
from typing import Any

import numpy as np

from frontends.tf._typing import DTypeLike, HostLike
from frontends.tf._user_view import as_dtype_seen
from frontends.tf.data.spec import SPECS_OF, as_dtype, dtype_on_host
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.tensor_shape import TensorShape


@dataclasses.dataclass(frozen=True, repr=False)
class RaggedTensorSpec:
    """The shape and dtype of a component that is a ragged tensor.

    Args:
        shape: sizes of the dimensions, None for those that vary; or None altogether.
        dtype: of the values.
        ragged_rank: how many dimensions are ragged; None means all but the outermost one.
        row_splits_dtype: accepted; splits have int64.

    Examples:
        >>> from frontends import tf
        >>> tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(
        ...     tf.ragged.constant([[1], []])
        ... )
        True

    Raises:
        ValueError: neither `ragged_rank` nor the number of dimensions is known.

    Source: `tf.RaggedTensorSpec`.
    """

    shape: HostLike = None
    dtype: Any = np.float32
    ragged_rank: int | None = None
    row_splits_dtype: DTypeLike = np.int64

    def __post_init__(self) -> None:
        shape = None if self.shape is None else TensorShape(self.shape)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype_on_host(self.dtype))
        if self.ragged_rank is None:
            if shape is None or shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            object.__setattr__(self, "ragged_rank", shape.rank - 1)

    @property
    def value_type(self) -> type:
        """The class of values: `tf.RaggedTensor`."""
        return RaggedTensor

    @classmethod
    def from_value(cls, value: RaggedTensor) -> "RaggedTensorSpec":
        """Makes the spec of a ragged tensor.

        Source: `tf.RaggedTensorSpec.from_value`.
        """
        return cls(value.shape, value.dtype, value.ragged_rank)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tells whether a ragged tensor can have this spec, or another spec.

        Source: `tf.RaggedTensorSpec.is_compatible_with`.
        """
        other = spec_or_value
        if isinstance(other, RaggedTensor):
            other = type(self).from_value(other)
        if not isinstance(other, RaggedTensorSpec):
            return False
        return (
            self.dtype == other.dtype
            and self.ragged_rank == other.ragged_rank
            and TensorShape(self.shape).is_compatible_with(TensorShape(other.shape))
        )

    def __repr__(self) -> str:
        dtypes = [
            f"tf.{as_dtype_seen(one).name}" for one in (self.dtype, as_dtype(self.row_splits_dtype))
        ]
        return f"RaggedTensorSpec({self.shape!r}, {dtypes[0]}, {self.ragged_rank}, {dtypes[1]})"


SPECS_OF[RaggedTensor] = lambda known: RaggedTensorSpec(known.shape, known.dtype, known.depth)
