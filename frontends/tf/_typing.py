"""Names for what an annotation means in TensorFlow's functions, which take nearly everything."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax

# What becomes a tensor: an array, a variable, a number, or nested lists of numbers.
TensorLike: TypeAlias = Any
# What functions of the host take: texts, arrays, nested lists of them, ragged and sparse tensors.
HostLike: TypeAlias = Any
# A dtype of `tf`, of NumPy or JAX, or the name of one.
DTypeLike: TypeAlias = Any
# One axis, or several.
Axis: TypeAlias = int | Sequence[int] | jax.Array | None
# Sizes of the axes: numbers, or a tensor of them.
ShapeLike: TypeAlias = Any
# Nested structures of tensors: tuples, lists, dicts.
Nested: TypeAlias = Any
# A variable of `tf`, of Keras or of Flax.
VariableLike: TypeAlias = Any
# A device of JAX, whose stubs show `jax.Device` as a variable, which cannot stand in a type.
Device: TypeAlias = Any
# A `tf.data.Dataset`, TensorFlow's, or any other source of batches that `spmd.distribute` takes.
Source: TypeAlias = Any
