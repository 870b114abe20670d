"""`tf.SparseTensorSpec`, and `tf.TypeSpec`, which all specs are."""

import abc
import dataclasses
from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf._user_view import as_dtype_seen
from frontends.tf.data.spec import SPECS_OF, DatasetSpec, TensorSpec, dtype_on_host
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.ragged.spec import RaggedTensorSpec
from frontends.tf.sparse.sparse_tensor import SparseTensor
from frontends.tf.tensor_shape import TensorShape


class TypeSpec(abc.ABC):  # noqa: B024 (specs are registered, and share nothing)
    """What specs are: of tensors, sparse and ragged ones, and datasets.

    Examples:
        >>> from frontends import tf
        >>> isinstance(tf.TensorSpec([None, 3]), tf.TypeSpec)
        True

    Source: `tf.TypeSpec`.
    """


@dataclasses.dataclass(frozen=True, repr=False)
class SparseTensorSpec:
    """The shape and dtype of a component that is a sparse tensor.

    Args:
        shape: sizes of the dimensions, None for those that vary; or None altogether.
        dtype: of the values.

    Examples:
        >>> from frontends import tf
        >>> tf.SparseTensorSpec([None, 3], tf.int32)
        SparseTensorSpec(TensorShape([None, 3]), tf.int32)

    Source: `tf.SparseTensorSpec`.
    """

    shape: HostLike = None
    dtype: Any = np.float32

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", TensorShape(self.shape))
        object.__setattr__(self, "dtype", dtype_on_host(self.dtype))

    @property
    def value_type(self) -> type:
        """The class of values: `tf.SparseTensor`."""
        return SparseTensor

    @classmethod
    def from_value(cls, value: SparseTensor) -> "SparseTensorSpec":
        """Makes the spec of a sparse tensor."""
        return cls(value.shape, value.dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tells whether a sparse tensor can have this spec, or another spec."""
        other = spec_or_value
        if isinstance(other, SparseTensor):
            other = type(self).from_value(other)
        if not isinstance(other, SparseTensorSpec):
            return False
        return self.dtype == other.dtype and self.shape.is_compatible_with(other.shape)

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, tf.{as_dtype_seen(self.dtype).name})"


SPECS_OF[SparseTensor] = lambda known: SparseTensorSpec(known.shape, known.dtype)

for _each in (DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec):
    TypeSpec.register(_each)


def type_spec_from_value(value: HostLike) -> Any:
    """Makes the spec of a tensor, a sparse or a ragged one.

    Source: `tf.type_spec_from_value`.
    """
    if isinstance(value, SparseTensor):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, RaggedTensor):
        return RaggedTensorSpec.from_value(value)
    return TensorSpec.from_tensor(value)
