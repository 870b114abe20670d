"""Layers and models that users wrote for texts, ragged and sparse tensors, which Keras would make arrays of.

Keras's own layers and models get sparse tensors as dense arrays.

Internals of Keras that this touches: `Layer._convert_input_args`, `._allow_non_tensor_positional_args` and
`._is_default` of its `build`; tests/frontends/tf/keras/test_host_arguments.py runs it on every supported version.
"""

from typing import Any

import jax
import keras
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import Nested
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.sparse.sparse_tensor import SparseTensor, dense
from spmd.integrations.keras import KerasObject
from spmd.replica import is_text

# An attribute of a layer that was called with such an argument.
_MARK = "_tf_takes_host_values"
_CONTAINERS = (list, tuple, dict)


def are_for_host(value: Nested) -> bool:
    """Tells whether there are texts, ragged or sparse tensors in an argument of a layer."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OSU" and is_text(value)
    if isinstance(value, dict):
        return any(map(are_for_host, value.values()))
    if isinstance(value, list | tuple):
        return any(map(are_for_host, value))
    return isinstance(value, RaggedTensor | SparseTensor)


def without_sparse(value: Nested) -> Any:
    """Makes arrays of the sparse tensors in an argument."""
    return keras.tree.map_structure(
        lambda leaf: dense(leaf) if isinstance(leaf, SparseTensor) else leaf, value
    )


def keep_as_given(
    layer: KerasObject, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Has a layer get what is for the host as it is, and converts its other arguments as Keras does.

    Args:
        layer: one that is called with such an argument, now or before.
        args: of the call.
        kwargs: likewise.

    Returns:
        The arguments.
    """
    if type(layer).__module__.startswith("keras.") and not isinstance(layer, keras.layers.Lambda):
        args, kwargs = without_sparse(args), without_sparse(kwargs)
        if not was_called_with_them(layer) and not (are_for_host(args) or are_for_host(kwargs)):
            return args, kwargs
    if layer._convert_input_args:
        # Map functions run on threads, so the layer stays like that.
        setattr(layer, _MARK, True)
        layer._convert_input_args, layer._allow_non_tensor_positional_args = False, True
    if not was_called_with_them(layer):
        return args, kwargs
    _build(layer, args)
    return tuple(_converted(layer, one) for one in args), {
        name: _converted(layer, one) for name, one in kwargs.items()
    }


def was_called_with_them(layer: KerasObject) -> bool:
    """Tells whether a layer was called with what is for the host before."""
    return getattr(layer, _MARK, False)


def _build(layer: KerasObject, args: tuple[Any, ...]) -> None:
    """Calls the `build` that a user wrote: Keras knows of no shape but those of arrays."""
    if layer.built or getattr(layer.build, "_is_default", False) or not args:
        return
    if are_for_host(args[0]) and not isinstance(args[0], _CONTAINERS):
        layer.build(tuple(args[0].shape))


def _converted(layer: KerasObject, argument: Nested) -> Nested:
    if isinstance(argument, _CONTAINERS) and are_for_host(argument):
        # Keras takes no arrays beside other values in one argument.
        return keras.tree.map_structure(_on_host, argument)
    if are_for_host(argument):
        return argument
    return keras.tree.map_structure(
        lambda leaf: layer.dtype_policy.convert_input(leaf, layer.autocast, layer.input_dtype),
        argument,
    )


def _on_host(leaf: Any) -> Any:
    is_array = isinstance(leaf, jax.Array) and not isinstance(leaf, Tracer)
    return as_tensors(np.asarray(leaf)) if is_array else leaf
