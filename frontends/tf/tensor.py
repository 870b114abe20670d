"""`tf.Tensor`, the class of arrays and of what datasets give, and `tf.is_tensor`."""

from typing import Any

import jax

from frontends.tf._symbolic import has_symbolic
from frontends.tf.data.host_tensors import is_host_tensor_class
from frontends.tf.indexed_slices import IndexedSlices
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.sparse.sparse_tensor import SparseTensor


class _Arrays(type):
    """Knows its instances, whose classes are those of JAX and NumPy."""

    def __instancecheck__(cls, instance: object) -> bool:
        # Tracers are instances of JAX's class, and their classes no subclasses.
        return cls.__subclasscheck__(type(instance)) or isinstance(instance, jax.Array)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, jax.Array) or is_host_tensor_class(subclass)

    def __getattr__(cls, name: str) -> Any:
        return getattr(jax.Array, name)


class Tensor(metaclass=_Arrays):
    """The class of tensors, for `isinstance` and for annotations.

    Its instances are arrays of JAX, those of a program included, and what `tf.constant` of texts and elements of datasets
    are: arrays and scalars of NumPy that have a tensor's methods. Plain arrays of NumPy, variables, ragged and sparse tensors
    are none, as in TensorFlow.

    Raises:
        TypeError: when it is called. `tf.constant` makes tensors.

    Examples:
        >>> from frontends import tf
        >>> isinstance(tf.constant("text"), tf.Tensor), isinstance("text", tf.Tensor)
        (True, False)

    Source: `tf.Tensor`.
    """

    def __new__(cls, *args: object, **kwargs: object) -> "Tensor":
        """Refuses to make one."""
        raise TypeError("tf.Tensor is not to be called: write tf.constant(value)")


def is_tensor(x: object) -> bool:
    """Tells whether a value is a tensor of any kind, or a variable; plain arrays of NumPy are not.

    Args:
        x: anything.

    Examples:
        >>> from frontends import tf
        >>> tf.is_tensor(tf.ragged.constant([[1], [2, 3]])), tf.is_tensor([1.0])
        (True, False)

    Source: `tf.is_tensor`.
    """
    if isinstance(x, Tensor | RaggedTensor | SparseTensor | IndexedSlices):
        return True
    # Variables have the attribute, Keras's too. The inputs of its models have it as well, and raise an error.
    return hasattr(x, "__jax_array__") and not has_symbolic(x)
