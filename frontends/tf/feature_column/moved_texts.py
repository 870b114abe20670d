"""Functions of `tf` that only move entries, or compare them, on texts of a program, which has their fingerprints."""

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.feature_column.texts import Texts

# A function of arrays of numbers, which moves the words of fingerprints: these have an axis more, the last one.
_Move = Callable[..., Any]
_Moved = Callable[..., Any]


def _words(value: Any) -> Any:
    return (value if isinstance(value, Texts) else Texts.of(value)).words


def _axis(axis: HostLike) -> int:
    number = int(axis)
    return number if number >= 0 else number - 1


def _as_is(move: _Move, input: Texts) -> Texts:
    return Texts(move(input.words))


def _concat(move: _Move, values: Any, axis: HostLike) -> Texts:
    return Texts(move([_words(one) for one in values], _axis(axis)))


def _expand_dims(move: _Move, input: Texts, axis: HostLike) -> Texts:
    return Texts(move(input.words, _axis(axis)))


def _gather(
    move: _Move,
    params: Texts,
    indices: TensorLike,
    validate_indices: object = None,
    axis: HostLike = None,
    batch_dims: int = 0,
) -> Texts:
    along = None if axis is None else _axis(axis)
    return Texts(move(params.words, indices, axis=along, batch_dims=batch_dims))


def _reshape(move: _Move, tensor: Texts, shape: Any) -> Texts:
    sizes = list(shape) if np.ndim(shape) else [shape]
    return Texts(move(tensor.words, [*sizes, 2]))


def _slice(move: _Move, input_: Texts, begin: Any, size: Any) -> Texts:
    return Texts(move(input_.words, [*begin, 0], [*size, 2]))


def _squeeze(move: _Move, input: Texts, axis: HostLike = None) -> Texts:
    shape = input.shape
    if axis is None:
        chosen = [number for number, size in enumerate(shape) if size == 1]
    else:
        chosen = [int(one) % len(shape) for one in np.atleast_1d(axis)]
    return Texts(move(input.words, chosen)) if chosen else input


def _stack(move: _Move, values: Any, axis: HostLike = 0) -> Texts:
    return Texts(move([_words(one) for one in values], _axis(axis)))


def _tile(move: _Move, input: Texts, multiples: Any) -> Texts:
    return Texts(move(input.words, [*multiples, 1]))


def _transpose(move: _Move, a: Texts, perm: Any = None, conjugate: bool = False) -> Texts:
    order = range(a.ndim)[::-1] if perm is None else perm
    return Texts(move(a.words, [*order, a.ndim]))


def _where(move: _Move, condition: TensorLike, x: Any, y: Any) -> Texts:
    return Texts(move(jnp.asarray(condition)[..., None], _words(x), _words(y)))


# By the last part of TensorFlow's name.
_FUNCTIONS: dict[str, _Moved] = {
    "concat": _concat,
    "equal": lambda _, x, y: Texts(_words(x)) == Texts(_words(y)),
    "expand_dims": _expand_dims,
    "gather": _gather,
    "identity": _as_is,
    "not_equal": lambda _, x, y: Texts(_words(x)) != Texts(_words(y)),
    "rank": lambda _, input: jnp.int32(input.ndim),
    "reshape": _reshape,
    "shape": lambda shape, input, **options: shape(input.words, **options)[:-1],
    "size": lambda _, input, out_type="int32": jnp.asarray(math.prod(input.shape), jnp.int32),
    "slice": _slice,
    "squeeze": _squeeze,
    "stack": _stack,
    "stop_gradient": _as_is,
    "tile": _tile,
    "transpose": _transpose,
    "where": _where,
}


def on_fingerprints(name: str, function: _Move, arguments: dict[str, Any]) -> Any:
    """Calls a function on texts of a program.

    Args:
        name: the last part of TensorFlow's name.
        function: what it does with arrays of numbers.
        arguments: by name.

    Returns:
        The result, `Texts` or numbers; NotImplemented for functions that need the texts themselves.
    """
    moved = _FUNCTIONS.get(name)
    if moved is None:
        return NotImplemented
    return moved(function, **{key: value for key, value in arguments.items() if key != "name"})
