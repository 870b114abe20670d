"""What an exported model takes: names, shapes and dtypes of its inputs, as TensorFlow names them."""

import jax
import keras

from frontends.tf._typing import Nested
from frontends.tf.data.spec import TensorSpec
from frontends.tf.dtypes import as_dtype
from spmd import export


def inputs_of(model: keras.Model) -> tuple[Nested, ...]:
    """Returns the specs of a model's arguments: those that it was defined with, or was first called with."""
    if isinstance(model, keras.Sequential):
        arguments: Nested = tuple(model.inputs)
    elif hasattr(model, "input"):
        arguments = (model.input,)
    else:
        config = model.get_build_config() or {}
        shapes = config["shapes_dict"].values() if "shapes_dict" in config else config.values()
        # Their dtypes are not known.
        arguments = tuple(_placeholders(shape, model.variable_dtype) for shape in shapes)
    return _named(arguments)


def inputs_from(input_signature: Nested) -> tuple[Nested, ...]:
    """Returns the specs of the `tf.TensorSpec`s that a caller gave; a tuple stands for several arguments."""
    if isinstance(input_signature, tuple):
        return _named(input_signature)
    if isinstance(input_signature, list) and len(input_signature) == 1:
        (input_signature,) = input_signature
    return _named((input_signature,))


def _placeholders(shape: Nested, dtype: str) -> Nested:
    """Makes a `TensorSpec` of each shape of a batch, with any number of rows."""
    if isinstance(shape, dict):
        return {key: _placeholders(each, dtype) for key, each in shape.items()}
    if all(size is None or isinstance(size, int) for size in shape):
        return TensorSpec([None, *shape[1:]], dtype)
    return [_placeholders(each, dtype) for each in shape]


def _named(arguments: tuple[Nested, ...]) -> tuple[Nested, ...]:
    """Names the inputs as TensorFlow does: `inputs`, `inputs_1` and so on."""
    leaves, structure = jax.tree.flatten(arguments, is_leaf=lambda each: hasattr(each, "shape"))
    names = ["inputs", *(f"inputs_{index}" for index in range(1, len(leaves)))]
    return jax.tree.unflatten(
        structure,
        [
            export.ArraySpec(name, tuple(leaf.shape), as_dtype(leaf.dtype).name)
            for name, leaf in zip(names, leaves, strict=True)
        ],
    )
