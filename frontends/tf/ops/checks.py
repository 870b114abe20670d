"""Functions of `tf.debugging` that check shapes and dtypes, which are known while a program is traced, too."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import DType, as_dtype
from frontends.tf.ops.convert import convert_to_tensor, is_tensor, static_int


def assert_rank(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None
) -> None:
    """Raises ValueError unless an array has that many dimensions.

    Source: `tf.debugging.assert_rank`.
    """
    _require_rank(x, np.ndim(_tensor(x)) == static_int(rank), f"rank {static_int(rank)}", message)


def assert_rank_at_least(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None
) -> None:
    """Raises ValueError if an array has fewer dimensions.

    Source: `tf.debugging.assert_rank_at_least`.
    """
    _require_rank(
        x, np.ndim(_tensor(x)) >= static_int(rank), f"rank at least {static_int(rank)}", message
    )


def assert_rank_in(
    x: TensorLike, ranks: Iterable[TensorLike], message: str | None = None, name: str | None = None
) -> None:
    """Raises ValueError unless the number of an array's dimensions is one of several.

    Source: `tf.debugging.assert_rank_in`.
    """
    allowed = tuple(map(int, ranks))
    _require_rank(x, np.ndim(_tensor(x)) in allowed, f"rank in {allowed}", message)


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless an array has no dimensions.

    Source: `tf.debugging.assert_scalar`.
    """
    shape = np.shape(_tensor(tensor))
    if shape:
        raise ValueError(f"{_prefix(message)}Expected scalar shape, saw shape: {shape}.")


def assert_shapes(
    shapes: Mapping[Any, ShapeLike] | Sequence[tuple[TensorLike, ShapeLike]],
    data: object = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Checks shapes of several arrays, and that sizes with one name are equal.

    Args:
        shapes: pairs of an array and its shape: integers; names, each of which stands for one size; None or
            `"."` for any size; `...` or `"*"` at the start for any dimensions before. A scalar counts as
            an array of one element.
        message: stands before the error's text.

    Raises:
        ValueError: a shape is another one.

    Examples:
        >>> from frontends import tf
        >>> assert_shapes([(tf.ones([2, 3]), ("N", 3)), (tf.ones([2]), ("N",))])

    Source: `tf.debugging.assert_shapes`.
    """
    sizes: dict[Any, tuple[int, str]] = {}
    pairs = shapes.items() if isinstance(shapes, Mapping) else shapes
    for x, symbols in pairs:
        if symbols is None:
            continue
        tensor = _tensor(x)
        what = f"Tensor of shape {np.shape(tensor)} and dtype {as_dtype(tensor.dtype).name}"
        actual = np.shape(tensor) or (1,)
        for dimension, symbol in _expected(symbols, actual, what, message):
            if symbol in (None, "."):
                continue
            position = f"{what} dimension {dimension}"
            size = _as_size(symbol)
            known = sizes.setdefault(symbol, (actual[dimension], position))
            wanted, source = known if size is None else (size, "the call")
            if actual[dimension] != wanted:
                raise ValueError(
                    f"{_prefix(message)}{position} must have size {wanted}, as {source} says. "
                    f"Received size {actual[dimension]}."
                )


def assert_type(
    tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None
) -> None:
    """Raises TypeError unless an array has a dtype; one of 64 bits is that of 32 where JAX has no other.

    Source: `tf.debugging.assert_type`.
    """
    # Not converted: a NumPy array keeps its own dtype.
    found = tensor.dtype if hasattr(tensor, "dtype") else _tensor(tensor).dtype
    names = {as_dtype(found).name, as_dtype(jax.dtypes.canonicalize_dtype(found)).name}
    expected = as_dtype(tf_type)
    held = expected if expected.name == "string" else jax.dtypes.canonicalize_dtype(expected.dtype)
    if names.isdisjoint({expected.name, as_dtype(held).name}):
        raise TypeError(
            f"{_prefix(message)}tensor must be of type {expected!r}; got {as_dtype(found)!r}. Cast it: "
            f"tf.cast(x, {expected!r})."
        )


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless an array has an integer dtype.

    Source: `tf.debugging.assert_integer`.
    """
    found = as_dtype(_tensor(x).dtype)
    if not found.is_integer:
        raise TypeError(f'{_prefix(message)}Expected "x" to be integer type. Found: {found!r}.')


def assert_same_float_dtype(
    tensors: Iterable[TensorLike] | None = None, dtype: DTypeLike = None
) -> DType:
    """Checks that arrays have one floating-point dtype.

    Returns:
        That dtype; float32 if none is given.

    Raises:
        ValueError: dtypes differ, or are no floating-point ones.

    Source: `tf.debugging.assert_same_float_dtype`.
    """
    found = [as_dtype(_tensor(x).dtype) for x in tensors or () if x is not None]
    expected = as_dtype(dtype) if dtype is not None else [*found, as_dtype("float32")][0]
    if any(other != expected for other in found):
        raise ValueError(f"Expected tensors of one dtype, {expected!r}. Found: {found}.")
    if not expected.is_floating:
        raise ValueError(f"Expected a floating-point dtype. Found: {expected!r}.")
    return expected


def assert_proper_iterable(values: object) -> None:
    """Raises TypeError unless a value is a list or another iterable of arrays: no array, no text, no dict.

    Source: `tf.debugging.assert_proper_iterable`.
    """
    wrong = is_tensor(values) or isinstance(values, np.ndarray | str | bytes | Mapping)
    if wrong or not isinstance(values, Iterable):
        raise TypeError(
            f"Expected argument `values` to be a proper iterable, such as a list. Found: {type(values)}."
        )


def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Tells whether a value is an array of numbers; a Python number is none.

    Source: `tf.debugging.is_numeric_tensor`.
    """
    return isinstance(tensor, jax.Array) and as_dtype(tensor.dtype).is_numeric


def _tensor(value: TensorLike) -> Any:
    return value if isinstance(value, jax.Array) else convert_to_tensor(value)


def _require_rank(x: TensorLike, holds: bool, expected: str, message: str | None) -> None:
    shape = np.shape(_tensor(x))
    if not holds:
        raise ValueError(
            f"{_prefix(message)}Tensor must have {expected}. Received rank {len(shape)}, shape {shape}."
        )


def _expected(
    symbols: ShapeLike, actual: tuple[int, ...], what: str, message: str | None
) -> list[tuple[int, Any]]:
    """Lists which dimension is to have which size, once their number is checked."""
    if not isinstance(symbols, Iterable):
        raise ValueError(
            f"{_prefix(message)}{what}: a shape must be iterable, such as (2, 'N'). Found: {symbols!r}."
        )
    expected = tuple(symbols)
    innermost = bool(expected) and expected[0] in (..., "*")
    expected = expected[1:] if innermost else expected
    if any(symbol in (..., "*") for symbol in expected):
        raise ValueError(f"{_prefix(message)}{what}: `...` or `*` may stand first in a shape only.")
    expected = expected or (() if innermost else (1,))
    if len(actual) < len(expected) or (not innermost and len(actual) > len(expected)):
        least = "at least " if innermost else ""
        raise ValueError(f"{_prefix(message)}{what} must have rank {least}{len(expected)}.")
    start = -len(expected) if innermost else 0
    return [(start + index, symbol) for index, symbol in enumerate(expected)]


def _as_size(symbol: object) -> int | None:
    try:
        return int(symbol)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return None


def _prefix(message: str | None) -> str:
    return f"{message}. " if message else ""
