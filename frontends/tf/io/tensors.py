"""Arrays as texts: TensorFlow's `TensorProto`."""

from typing import Any

import ml_dtypes
import numpy as np

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.dtypes import as_dtype
from frontends.tf.io.host_values import in_shape, texts_of

# TensorFlow's numbers of dtypes, and where a message has their values if not as bytes.
_STRING = 7
_TYPES: dict[int, tuple[Any, str]] = {
    1: (np.float32, "float_val"),
    2: (np.float64, "double_val"),
    3: (np.int32, "int_val"),
    4: (np.uint8, "int_val"),
    5: (np.int16, "int_val"),
    6: (np.int8, "int_val"),
    8: (np.complex64, "scomplex_val"),
    9: (np.int64, "int64_val"),
    10: (np.bool_, "bool_val"),
    14: (ml_dtypes.bfloat16, "half_val"),
    17: (np.uint16, "int_val"),
    18: (np.complex128, "dcomplex_val"),
    19: (np.float16, "half_val"),
    22: (np.uint32, "uint32_val"),
    23: (np.uint64, "uint64_val"),
}
_NUMBERS = {np.dtype(kind): number for number, (kind, _) in _TYPES.items()}


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Any:
    """Writes an array as a text.

    Args:
        tensor: an array, a number, a text, or nested lists of them. Python's numbers become int32 (int64 where they
            need it) and float32.

    Returns:
        The bytes of a `TensorProto`, as TensorFlow writes them.

    Raises:
        ValueError: there is no number for the dtype.

    Examples:
        >>> print(parse_tensor(serialize_tensor(np.arange(3)), np.int64))
        [0 1 2]

    Source: `tf.io.serialize_tensor`.
    """
    from frontends.tf._protos import MESSAGES

    array = tensor if isinstance(tensor, bytes) else np.asarray(tensor)
    message = MESSAGES["TensorProto"]()
    if isinstance(array, bytes) or array.dtype.kind in "OSU":
        texts, shape = texts_of(tensor, "serialize_tensor: tensor")
        message.dtype = _STRING
        message.string_val.extend(texts)
    else:
        array = _of_type(array, tensor, None)
        number = _NUMBERS.get(array.dtype)
        if number is None:
            raise ValueError(
                f"serialize_tensor: cannot write {array.dtype}.\nFix: tf.cast(x, tf.float32)"
            )
        shape = array.shape
        message.dtype = number
        message.tensor_content = np.ascontiguousarray(array).tobytes()
    message.tensor_shape.SetInParent()
    for size in shape:
        message.tensor_shape.dim.add(size=size)
    return as_tensors(message.SerializeToString())


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Any:
    """Reads an array that was written as a text.

    Args:
        serialized: the bytes of a `TensorProto`.
        out_type: its dtype.

    Returns:
        An array in host memory, or a number or text.

    Raises:
        ValueError: it is none, or has another dtype.

    Source: `tf.io.parse_tensor`.
    """
    from google.protobuf.message import DecodeError

    from frontends.tf._protos import MESSAGES

    texts, outer = texts_of(serialized, "parse_tensor: serialized")
    if outer:
        raise ValueError(f"Expected `serialized` to be a scalar, got shape: {list(outer)}")
    try:
        message = MESSAGES["TensorProto"].FromString(texts[0])
        shape = tuple(dim.size for dim in message.tensor_shape.dim)
        count = int(np.prod(shape, dtype=object))
        if min(shape, default=0) < 0:
            raise ValueError("a size is negative")
        wanted = as_dtype(out_type)
        if message.dtype == _STRING:
            _check_type(wanted.name, "string")
            return in_shape(_texts(message, count), shape)
        if message.dtype not in _TYPES:
            raise ValueError(f"the number of its dtype is {message.dtype}")
        kind, field = _TYPES[message.dtype]
        _check_type(wanted.name, np.dtype(kind).name)
        return as_tensors(_numbers(message, np.dtype(kind), field, count).reshape(shape)[()])
    except (DecodeError, ValueError) as error:
        raise ValueError(
            f"Could not parse `serialized` as TensorProto: '{texts[0][:40]!r}': {error}.\n"
            "Fix: read what tf.io.serialize_tensor wrote, as the dtype that it had."
        ) from None


def make_tensor_proto(
    values: TensorLike,
    dtype: DTypeLike = None,
    shape: ShapeLike = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """Makes the message of an array: a `TensorProto`, as requests to servers hold.

    Args:
        values: an array, a number, a text, or nested lists of them. Python's numbers become int32 (int64 where they
            need it) and float32.
        dtype: of the message; None is that of the values.
        shape: of the message, whose last value is repeated if it has fewer; None is that of the values.
        verify_shape: whether the values must have the shape already.
        allow_broadcast: whether a single value may fill the shape.

    Returns:
        The message.

    Raises:
        TypeError: the values have another shape than `shape`, and are to have it; or there is no number for the dtype.
        ValueError: there are more values than the shape has.

    Examples:
        >>> message = make_tensor_proto([1.0, 2.0])
        >>> make_ndarray(message).tolist()
        [1.0, 2.0]

    Source: `tf.make_tensor_proto`.
    """
    from frontends.tf._protos import MESSAGES

    message = MESSAGES["TensorProto"]()
    array = np.asarray(values)
    text = array.dtype.kind in "OSU"
    if text:
        texts, own = texts_of(values, "make_tensor_proto: values")
    else:
        array, own = _of_type(array, values, dtype), array.shape
    sizes = own if shape is None else tuple(int(size) for size in shape)
    _check_shape(own, sizes, verify_shape, allow_broadcast)
    message.tensor_shape.SetInParent()
    for size in sizes:
        message.tensor_shape.dim.add(size=size)
    if text:
        message.dtype = _STRING
        message.string_val.extend(texts)
        return message
    if array.dtype not in _NUMBERS:
        raise TypeError(
            f"make_tensor_proto: cannot write {array.dtype}.\nFix: make_tensor_proto(x, tf.int64)"
        )
    message.dtype = _NUMBERS[array.dtype]
    field = _TYPES[message.dtype][1]
    flat = array.reshape(-1)
    if array.size > 1 and array.size == int(np.prod(sizes)) and array.dtype.kind not in "bc":
        message.tensor_content = np.ascontiguousarray(array).tobytes()
    elif field == "half_val":
        message.half_val.extend(flat.view(np.uint16).tolist())
    elif array.dtype.kind == "c":
        getattr(message, field).extend(
            [part for one in flat.tolist() for part in (one.real, one.imag)]
        )
    else:
        getattr(message, field).extend(flat.tolist())
    return message


def _of_type(array: np.ndarray, values: TensorLike, dtype: DTypeLike) -> np.ndarray:
    if dtype is not None:
        return array.astype(as_dtype(dtype).dtype)
    kind = array.dtype.newbyteorder("=")
    if isinstance(values, list | int | float | tuple) and not isinstance(values, np.generic):
        if kind == np.int64 and np.array_equal(array.astype(np.int32), array):
            kind = np.dtype(np.int32)
        elif kind == np.float64:
            kind = np.dtype(np.float32)
    return array.astype(kind, copy=False)


def _check_shape(
    own: tuple[int, ...], sizes: tuple[int, ...], verify_shape: bool, allow_broadcast: bool
) -> None:
    count, room = int(np.prod(own)), int(np.prod(sizes))
    if (verify_shape or (allow_broadcast and count != 1)) and own != sizes:
        raise TypeError(f"make_tensor_proto: expected values of shape {sizes}, got {own}.")
    if count > room:
        raise ValueError(
            f"make_tensor_proto: shape {sizes} has {room} entries, but {count} values are given."
        )


def make_ndarray(tensor: Any) -> np.ndarray:
    """Makes an array of NumPy of a message.

    Args:
        tensor: a `TensorProto`, this project's or TensorFlow's.

    Returns:
        The array; texts as bytes in an array of objects.

    Raises:
        TypeError: there is no such number of a dtype.

    Source: `tf.make_ndarray`.
    """
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    count = int(np.prod(shape, dtype=object))
    if tensor.dtype == _STRING:
        made = np.empty(count, object)
        made[:] = _texts(tensor, count)
        return made.reshape(shape)
    if tensor.dtype not in _TYPES:
        raise TypeError(f"make_ndarray: Unsupported tensor type: {tensor.dtype}.")
    kind, field = _TYPES[tensor.dtype]
    return _numbers(tensor, np.dtype(kind), field, count).reshape(shape)


def _check_type(wanted: str, found: str) -> None:
    if wanted != found:
        raise ValueError(f"Type mismatch between parsed tensor ({found}) and dtype ({wanted})")


def _texts(message: Any, count: int) -> list[bytes]:
    data = message.tensor_content
    if not data:
        return _filled(list(message.string_val), count, b"")
    if count > len(data):
        raise ValueError("it has fewer texts than its shape says")
    sizes, at = [], 0
    for _ in range(count):
        size = shift = 0
        while True:
            if at >= len(data) or shift > 63:
                raise ValueError("it has fewer texts than its shape says")
            size |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                break
        sizes.append(size)
    if at + sum(sizes) != len(data):
        raise ValueError("its texts are not as long as it says")
    found = []
    for size in sizes:
        found.append(data[at : at + size])
        at += size
    return found


def _numbers(message: Any, dtype: np.dtype, field: str, count: int) -> np.ndarray:
    if message.tensor_content:
        if len(message.tensor_content) != count * dtype.itemsize:
            raise ValueError(
                f"it has {len(message.tensor_content)} bytes, and its shape needs {count * dtype.itemsize}"
            )
        return np.frombuffer(message.tensor_content, dtype).copy()
    values = list(getattr(message, field))
    if field == "half_val":
        halves = np.array(values, np.uint16).view(dtype)
        return np.array(_filled(list(halves), count, dtype.type(0)), dtype)
    if dtype.kind == "c":
        values = [complex(*pair) for pair in zip(values[::2], values[1::2], strict=True)]
    return np.array(_filled(values, count, 0), dtype)


def _filled(values: list[Any], count: int, zero: Any) -> list[Any]:
    """Repeats the last value, which messages hold once."""
    if len(values) > count:
        raise ValueError("it has more values than its shape says")
    if count > _MOST:
        raise ValueError(f"its shape says that it has {count} values")
    return values + [values[-1] if values else zero] * (count - len(values))


# A shape is a few bytes: that of a damaged message must not take all memory.
_MOST = 2**27
