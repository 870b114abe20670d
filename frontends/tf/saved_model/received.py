"""Inputs of signatures that are no arrays of the program: texts, of which it takes fingerprints."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import convert_to_tensor
from spmd import export

# The note of an artifact: by signature, the inputs that are texts.
RECEIVED = "received"
_TEXT = "string"


def described(inputs: Mapping[str, tuple[tuple[int | None, ...], str]]) -> list[str]:
    """Describes the inputs of a signature for the notes.

    Args:
        inputs: shape and dtype by name.
    """
    return [name for name, (_, dtype) in inputs.items() if dtype == _TEXT]


def specs_of(program: tuple[export.ArraySpec, ...], texts: Sequence[str]) -> list[export.ArraySpec]:
    """Returns what a signature takes.

    Args:
        program: what its program takes.
        texts: what `described` gave.
    """
    return [
        dataclasses.replace(spec, shape=spec.shape[:-1], dtype=_TEXT)
        if spec.name in texts
        else spec
        for spec in program
    ]


def array_of(spec: export.ArraySpec, value: TensorLike) -> jax.Array:
    """Makes the array that a program takes of an input.

    Args:
        spec: what the signature takes.
        value: what it is given.

    Raises:
        TypeError: it has another dtype.
        ValueError: it has another shape.
    """
    array: Any = convert_to_tensor(value)
    is_text = isinstance(array, np.ndarray)
    dtype = _TEXT if is_text else array.dtype.name
    if dtype != spec.dtype:
        raise TypeError(
            f"The input {spec} got elements of the type {dtype}. Convert it: "
            f"tf.cast({spec.name}, tf.{spec.dtype})."
        )
    fits = array.ndim == len(spec.shape) and all(
        size in (None, found) for size, found in zip(spec.shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"The input {spec} got an array of shape {array.shape}. Reshape it, or save the model with "
            "inputs of this shape."
        )
    if not is_text:
        return array
    # Few who load a model need it.
    from frontends.tf.feature_column.texts import Texts

    return jnp.asarray(Texts.of(array).words)
