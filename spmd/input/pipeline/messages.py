"""Messages between a process and those that call map functions for it, over a socket.

What is in a message is pickled: both ends are processes of one program. Large arrays lie in memory that the receiver maps,
and are not copied. It has no name, so that nothing is left behind, however a process ends.
"""

import errno
import mmap
import os
import pickle
import socket
import struct
from typing import Any

# The lengths of the rest of the header, of the pickled part, and of the memory.
_HEADER = struct.Struct("<QQQ")
# Where an array begins in the memory, and its length.
_PLACE = struct.Struct("<QQ")
# Arrays of so many bytes lie in memory of their own; smaller ones are pickled.
_LARGE = 2**14
# JAX takes arrays without copying them that begin at such places.
_ALIGNMENT = 64


class EndedError(Exception):
    """The process at the other end has ended, or nothing more can be said to it."""


def can_share() -> bool:
    """Tells whether this system has memory without a name: Linux."""
    return hasattr(os, "memfd_create")


def send(to: socket.socket, value: Any) -> None:
    """Sends a value.

    Raises:
        EndedError: nobody is there to receive it.
    """
    arrays: list[memoryview] = []

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _LARGE:
            return True
        arrays.append(raw)
        return False

    pickled = pickle.dumps(value, protocol=5, buffer_callback=is_small)
    places, total = [], 0
    for array in arrays:
        places.append(total)
        total += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    rest = b"".join(
        _PLACE.pack(place, array.nbytes) for place, array in zip(places, arrays, strict=True)
    )
    header = _HEADER.pack(len(rest), len(pickled), total) + rest
    descriptors = [_filled(arrays, places, total)] if arrays else []
    try:
        if descriptors:
            header = header[socket.send_fds(to, [header], descriptors) :]
        to.sendall(header)
        to.sendall(pickled)
    except OSError as error:  # a part of it may have been sent
        raise EndedError from error
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def receive(source: socket.socket) -> Any:
    """Waits for a value, and returns it; its large arrays lie in memory that nobody else writes to.

    Raises:
        EndedError: there will be none.
        OSError: its memory cannot be mapped.
    """
    descriptors: list[int] = []
    buffers: list[memoryview] = []
    try:
        first, descriptors, _, _ = socket.recv_fds(source, _HEADER.size, 1)
        if not first:
            raise EndedError
        header = first + _exactly(source, _HEADER.size - len(first))
        length, size, total = _HEADER.unpack(header)
        rest, pickled = _exactly(source, length), _exactly(source, size)
        if total and not descriptors:  # the system drops what this process has no room for
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        if total:
            memory = memoryview(mmap.mmap(descriptors[0], total))
            buffers = [memory[place : place + count] for place, count in _PLACE.iter_unpack(rest)]
    except ConnectionResetError:
        raise EndedError from None
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    return pickle.loads(pickled, buffers=buffers)  # noqa: S301 (from a process of this program)


def _filled(arrays: list[memoryview], places: list[int], total: int) -> int:
    """Copies arrays into memory without a name; returns its descriptor."""
    descriptor = os.memfd_create("spmd-map")
    try:
        os.ftruncate(descriptor, total)
        with mmap.mmap(descriptor, total) as mapped:
            for array, place in zip(arrays, places, strict=True):
                mapped[place : place + array.nbytes] = array
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _exactly(source: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = source.recv(min(count, 2**20))
        if not part:
            raise EndedError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
