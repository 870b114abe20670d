"""Checkpoints of TensorFlow: a table of names (`.index`), and files of arrays (`.data-00000-of-00001`).

The table is one of LevelDB's: sorted keys in blocks, of which each key shares the beginning with the one before, and a block that
says where the others are. Its values are protocol buffers, which say where in which file an array is.
"""

import dataclasses
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes  # registers bfloat16 with NumPy
import numpy as np

from frontends.tf.dtypes import as_dtype
from spmd.errors import DamagedFileError
from spmd.files import StorePath, path_of, reads
from spmd.input.pipeline import masked_crc32c

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48


@dataclasses.dataclass(frozen=True)
class BundleEntry:
    """An array in a checkpoint of TensorFlow.

    Attributes:
        name: of the variable.
        dtype: its name.
        shape: sizes.
        shard: the number of its file.
        offset: where it begins there.
        size: in bytes.
        checksum: masked CRC32C of these.
        parts: of how many parts the variable is, which other entries have; 0 if this is the whole.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    checksum: int
    parts: int


def is_bundle(path: str) -> bool:
    """Tells whether TensorFlow wrote a checkpoint under a path."""
    return path_of(f"{path}.index").is_file()


class TensorBundle:
    """A checkpoint of TensorFlow, opened to be read.

    Attributes:
        entries: arrays, by the names of their variables.
    """

    def __init__(self, path: str) -> None:
        """Reads the table, and no array.

        Args:
            path: of the checkpoint, without `.index`.

        Raises:
            DamagedFileError: the table is damaged.
        """
        from frontends.tf._protos import MESSAGES  # imports protobuf

        self._path, self._shards = path, 1
        self.entries: dict[str, BundleEntry] = {}
        for key, value in _table(path_of(f"{path}.index")):
            if not key:
                self._shards = MESSAGES["BundleHeaderProto"].FromString(value).num_shards
            elif not key.startswith(b"\0"):  # a part of a variable
                name, found = key.decode(), MESSAGES["BundleEntryProto"].FromString(value)
                shape = tuple(int(one.size) for one in found.shape.dim)
                place = found.shard_id, found.offset, found.size, found.crc32c
                self.entries[name] = BundleEntry(
                    name, as_dtype(found.dtype).name, shape, *place, len(found.slices)
                )

    def read(self, entry: BundleEntry) -> Any:
        """Reads an array, which the caller may write to.

        Args:
            entry: of `entries`.

        Raises:
            DamagedFileError: its bytes are not what was written, or their file is missing.
            NotImplementedError: it is of texts, or its variable was saved in parts.
        """
        if entry.dtype == "string" or entry.parts:
            kind = "holds texts" if entry.dtype == "string" else f"was saved in {entry.parts} parts"
            raise NotImplementedError(
                f"{entry.name} of {self._path} {kind}, which is not read here. Read it in TensorFlow: "
                f"np.save('value.npy', tf.train.load_variable({self._path!r}, {entry.name!r}))."
            )
        file = f"{self._path}.data-{entry.shard:05d}-of-{self._shards:05d}"
        try:
            with reads(file) as opened:
                opened.seek(entry.offset)
                content = opened.read(entry.size)
        except FileNotFoundError as error:
            raise DamagedFileError(
                f"{self._path}.index says that {entry.name} is in {file}, which is not there. Copy the checkpoint again, with all "
                "of its files, or take another one."
            ) from error
        if len(content) != entry.size or masked_crc32c(content) != entry.checksum:
            raise DamagedFileError(
                f"{file} is damaged: bytes {entry.offset} to {entry.offset + entry.size}, of {entry.name}, are not what was "
                "written. Copy the checkpoint again, or take another one."
            )
        dtype = np.dtype(getattr(ml_dtypes, entry.dtype, entry.dtype))
        return np.frombuffer(content, dtype).reshape(entry.shape).copy()


def _table(path: Path | StorePath) -> Iterator[tuple[bytes, bytes]]:
    """Reads the keys and values of a table of LevelDB's."""
    content = path.read_bytes()
    footer = content[-_FOOTER:]
    if len(footer) < _FOOTER or struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise _damaged(path)
    _, _, position = _handle(footer, 0)
    offset, size, _ = _handle(footer, position)
    for _, handle in _block(path, content, offset, size):
        yield from _block(path, content, *_handle(handle, 0)[:2])


def _block(
    path: Path | StorePath, content: bytes, offset: int, size: int
) -> Iterator[tuple[bytes, bytes]]:
    block, kind = content[offset : offset + size], content[offset + size : offset + size + 1]
    checksum = content[offset + size + 1 : offset + size + 5]
    if len(checksum) < 4 or struct.unpack("<I", checksum)[0] != masked_crc32c(block + kind):
        raise _damaged(path)
    if kind != b"\0":
        raise NotImplementedError(
            f"The table {path} is compressed, which TensorFlow's checkpoints are not. Save the checkpoint once more there."
        )
    (restarts,) = struct.unpack("<I", block[-4:])
    position, end, key = 0, size - 4 - 4 * restarts, b""
    while position < end:
        shared, position = _number(block, position)
        own, position = _number(block, position)
        length, position = _number(block, position)
        key = key[:shared] + block[position : position + own]
        yield key, block[position + own : position + own + length]
        position += own + length


def _handle(content: bytes, position: int) -> tuple[int, int, int]:
    """Reads where a block begins, and its size; returns the position behind, too."""
    offset, position = _number(content, position)
    size, position = _number(content, position)
    return offset, size, position


def _number(content: bytes, position: int) -> tuple[int, int]:
    """Reads a number of seven bits a byte; returns the position behind, too."""
    found = shift = 0
    while True:
        byte = content[position]
        found |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return found, position


def _damaged(path: Path | StorePath) -> DamagedFileError:
    return DamagedFileError(
        f"{path} is no index of a checkpoint of TensorFlow, or damaged. Copy the checkpoint again, or take another one."
    )
