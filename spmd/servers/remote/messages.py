"""Messages of arrays between workers and parameter servers: one block of bytes each.

Ray moves bytes with fewer copies than objects that hold arrays. A message has the structure, pickled without arrays, and then
the arrays' own memory; who receives it gets views of it.
"""

import pickle
import struct
from collections.abc import Sequence
from typing import Any

# XLA takes arrays as they are that begin at such multiples.
_ALIGNMENT = 64
_HEAD = struct.Struct("<QQ")


def pack(value: Any) -> bytes:
    """Makes a message of a structure with arrays of NumPy.

    Examples:
        >>> import numpy as np
        >>> unpack(pack({"w": np.arange(3)}))
        {'w': array([0, 1, 2])}
    """
    return b"".join(parts_of(value)[0])


def pack_into(memory: memoryview, parts: Sequence[Any]) -> None:
    """Writes the parts of a message into memory, from its start."""
    used = 0
    for part in parts:
        memory[used : used + len(part)] = part
        used += len(part)


def parts_of(value: Any) -> tuple[list[Any], int]:
    """Returns the parts of a message, which follow each other, and its size."""
    buffers: list[pickle.PickleBuffer] = []
    structure = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    sizes = struct.pack(f"<{len(arrays)}Q", *(len(array) for array in arrays))
    parts: list[Any] = [_HEAD.pack(len(arrays), len(structure)), sizes, structure]
    used = _HEAD.size + len(sizes) + len(structure)
    for array in arrays:
        padding = -used % _ALIGNMENT
        parts += (bytes(padding), array)
        used += padding + len(array)
    return parts, used


def unpack(message: bytes | memoryview) -> Any:
    """Returns the structure of a message; its arrays are views of it, which cannot be written."""
    count, length = _HEAD.unpack_from(message)
    start = _HEAD.size + 8 * count
    sizes = struct.unpack_from(f"<{count}Q", message, _HEAD.size)
    whole = memoryview(message)
    used = start + length
    buffers: list[memoryview] = []
    for size in sizes:
        used += -used % _ALIGNMENT
        buffers.append(whole[used : used + size])
        used += size
    # Over Ray's authenticated channel.
    return pickle.loads(whole[start : start + length], buffers=buffers)  # noqa: S301
