"""Sparse tensors in what an `input_fn` gives, as arrays: devices have no others.

A row's values are at its beginning, and what follows stands for none: -1 for whole numbers, the empty text, and 0 for other
numbers. That is what columns of categories and `tf.nn.embedding_lookup_sparse` leave out.
"""

from typing import Any

import jax
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.sparse import SparseTensor
from frontends.tf.sparse.sparse_tensor import dense
from frontends.tf.sparse.spec import SparseTensorSpec
from frontends.tf.tensor_shape import TensorShape


def with_arrays(dataset: Any) -> Any:
    """Has a dataset give arrays for the sparse tensors of its batches, if there are some.

    Their last size is a power of 2: for each size that there is, a step is compiled.

    Args:
        dataset: of `tf.data`.
    """
    specs = jax.tree.leaves(dataset.element_spec)
    # What is declared as an object may be a sparse tensor. Texts have a shape, but for those that come one by one.
    if not any(
        isinstance(spec, SparseTensorSpec)
        or (spec.dtype.kind == "O" and not TensorShape(spec.shape).rank)
        for spec in specs
    ):
        return dataset
    return dataset.map(_with_arrays)


def _with_arrays(*components: Nested) -> Nested:
    found = nest.map_structure(_array, components)
    return found if len(found) > 1 else found[0]


def _array(value: Any) -> Any:
    if not isinstance(value, SparseTensor):
        return value
    kind = np.asarray(value.values).dtype.kind
    filler = b"" if kind in "OSU" else -1 if kind == "i" else 0
    *rows, size = np.asarray(value.dense_shape).tolist()
    wide = 1 << max(int(size) - 1, 0).bit_length()
    return dense(SparseTensor(value.indices, value.values, [*rows, wide]), filler)
