"""The bytes of TensorFlow's `TopologyProto`, which need no more of protobuf than integers.

The message has four fields of integers that are read here: 1, the shape of the mesh; 2, the number of tasks; 3, the number of
devices of a task; 4, the coordinates. Others are skipped.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes of a field of this kind


def write(mesh_shape: Iterable[int], coordinates: np.ndarray) -> bytes:
    """Writes a topology.

    Args:
        mesh_shape: the sizes of the mesh.
        coordinates: of shape `(tasks, devices of a task, axes)`.

    Examples:
        >>> write([1, 1, 1, 1], np.zeros((1, 1, 4), np.int32)).hex()
        '0a040101010110011801220400000000'
    """
    tasks, devices, _ = coordinates.shape
    return b"".join(
        [
            _packed(1, mesh_shape),
            _number(2, tasks),
            _number(3, devices),
            _packed(4, coordinates.flatten()),
        ]
    )


def read(data: bytes) -> tuple[Sequence[int], np.ndarray]:
    """Reads a topology.

    Returns:
        The shape of the mesh, and the coordinates as `write` takes them.

    Raises:
        ValueError: these are not the bytes of a topology.
    """
    found: dict[int, list[int]] = {1: [], 2: [], 3: [], 4: []}
    try:
        for field, numbers in _parts_of(iter(data)):
            found.get(field, []).extend(numbers)
        tasks, devices = (sum(found[field][-1:]) for field in (2, 3))
        coordinates = np.array(found[4], np.int32).reshape(tasks, devices, len(found[1]))
    except (StopIteration, RuntimeError, KeyError, ValueError, OverflowError) as error:
        raise ValueError(
            f"These {len(data)} bytes are no topology of a TPU. Pass what Topology.serialized() gave."
        ) from error
    return found[1], coordinates


def _parts_of(data: Iterator[int]) -> Iterator[tuple[int, list[int]]]:
    for first in data:
        tag = _varint(data, first)
        field, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            yield field, [_varint(data, next(data))]
        elif kind == _BYTES:
            part = bytes(next(data) for _ in range(_varint(data, next(data))))
            inner = iter(part)
            yield field, [_varint(inner, each) for each in inner] if field in (1, 4) else []
        else:
            for _ in range(_FIXED[kind]):
                next(data)


def _varint(data: Iterator[int], byte: int) -> int:
    value, shift = byte & 127, 7
    while byte & 128:
        byte = next(data)
        value |= (byte & 127) << shift
        shift += 7
    return value


def _encoded(value: int) -> bytes:
    parts = list[int]()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _packed(field: int, values: Iterable[int]) -> bytes:
    content = b"".join(_encoded(int(value)) for value in values)
    return _encoded(field << 3 | _BYTES) + _encoded(len(content)) + content if content else b""


def _number(field: int, value: int) -> bytes:
    return _encoded(field << 3 | _VARINT) + _encoded(value) if value else b""
