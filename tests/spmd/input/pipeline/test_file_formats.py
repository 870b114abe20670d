"""Files: paths, compression, lines and TFRecords."""

import gzip
import io
import pathlib
import struct
import zlib

import numpy as np
import pytest

from spmd.input.pipeline import file_formats as formats


def record(content: bytes) -> bytes:
    length = struct.pack("<Q", len(content))
    checks = [struct.pack("<I", formats._masked_crc32c(data)) for data in (length, content)]
    return length + checks[0] + content + checks[1]


def test_the_checksum_is_that_of_the_format():
    # The CRC32C of "123456789" is 0xe3069283 by RFC 3720; a masked one is rotated and moved.
    crc = 0xE3069283
    expected = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert formats._masked_crc32c(b"123456789") == expected


def test_paths():
    assert list(formats.paths("a")) == ["a"]
    assert list(formats.paths([["a", b"b"], [pathlib.Path("c"), "d"]])) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("compression", "press"), [(None, bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)]
)
def test_opened(tmp_path, compression, press):
    path = tmp_path / "file"
    path.write_bytes(press(b"a\r\nb"))
    formats.check_compression(compression, "read")
    with formats.opened(np.array(str(path), object), compression) as file:
        assert list(formats.lines(file)) == [b"a", b"b"]


def test_unknown_compression():
    with pytest.raises(ValueError, match="read: compression_type must be None, 'GZIP' or 'ZLIB'"):
        formats.check_compression("LZ4", "read")


def test_records():
    assert list(formats.records(io.BytesIO(record(b"abc") + record(b"")))) == [b"abc", b""]


@pytest.mark.parametrize("second", [record(b"abcdef")[:-1], b"x" * 40])
def test_damaged_records(second):
    reader = formats.records(io.BytesIO(record(b"abc") + second))
    assert next(reader) == b"abc"
    with pytest.raises(ValueError, match="damaged after 1 records"):
        list(reader)
