"""`tf.compat.v1.data`: `tf.data`, and what asks a dataset for the types and shapes of its elements."""

from typing import Any

import jax

from frontends.tf import _names
from frontends.tf._typing import Nested
from frontends.tf.data.spec import DatasetSpec, TensorSpec
from frontends.tf.dtypes import as_dtype
from frontends.tf.tensor_shape import TensorShape


def get_output_shapes(dataset_or_iterator: Any) -> Nested:
    """Returns the shapes of a dataset's or iterator's elements, in their structure.

    Source: `tf.compat.v1.data.get_output_shapes`.
    """
    return jax.tree.map(lambda spec: TensorShape(spec.shape), dataset_or_iterator.element_spec)


def get_output_types(dataset_or_iterator: Any) -> Nested:
    """Returns the dtypes of a dataset's or iterator's elements, in their structure.

    Source: `tf.compat.v1.data.get_output_types`.
    """
    return jax.tree.map(lambda spec: as_dtype(spec.dtype), dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Nested:
    """Returns the classes of what a dataset's or iterator's elements hold, in their structure.

    Source: `tf.compat.v1.data.get_output_classes`.
    """

    def held(spec: Any) -> type:
        if isinstance(spec, DatasetSpec):
            from frontends.tf.data.dataset import Dataset

            return Dataset
        if isinstance(spec, TensorSpec):
            return jax.Array
        return spec.value_type

    return jax.tree.map(held, dataset_or_iterator.element_spec)


__getattr__, __dir__ = _names.attributes(
    "tf.compat.v1.data", _names.defined_in(__name__), rest="frontends.tf.data"
)
