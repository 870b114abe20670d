"""Files: paths, compression, lines and records of equal length."""

import gzip
import io
import pathlib
import zlib

import numpy as np
import pytest

from spmd.errors import DamagedFileError
from spmd.input.pipeline import file_formats as formats


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


def test_lines_lose_their_ends():
    file = io.BytesIO(b"a\r\n\nb\rc\nlast")
    assert list(formats.lines(file)) == [b"a", b"", b"bc", b"last"]


@pytest.mark.parametrize(
    ("compression", "press"), [("GZIP", gzip.compress), ("ZLIB", zlib.compress)]
)
def test_compressed_parts_follow_each_other(tmp_path, compression, press):
    path, large = tmp_path / "file", bytes(range(256)) * 5000
    path.write_bytes(press(b"abc") + press(large))
    with formats.opened(path, compression) as file:
        assert file.read() == b"abc" + large
    path.write_bytes(b"")
    with formats.opened(path, compression) as file:
        assert file.read() == b""


@pytest.mark.parametrize(
    ("compression", "press"), [("GZIP", gzip.compress), ("ZLIB", zlib.compress)]
)
def test_damaged_compression_is_told(tmp_path, compression, press):
    path = tmp_path / "file"
    for content in (b"not compressed", press(b"abc" * 100)[:-5]):
        path.write_bytes(content)
        with (
            formats.opened(path, compression) as file,
            pytest.raises(DamagedFileError, match=f"is not compressed with {compression}") as error,
        ):
            file.read()
        assert error.value.path == str(path)


def test_records_of_equal_length():
    read = formats.fixed_length_records
    assert list(read(io.BytesIO(b"abcdef"), 2)) == [b"ab", b"cd", b"ef"]
    assert list(read(io.BytesIO(b"HabcdFF"), 2, 1, 2)) == [b"ab", b"cd"]
    assert list(read(io.BytesIO(b"HFF"), 2, 1, 2)) == []
    large = bytes(range(256)) * 3000
    assert b"".join(read(io.BytesIO(large), 3)) == large
    for content, header in ((b"abc", 0), (b"H", 2)):
        with pytest.raises(DamagedFileError):
            list(read(io.BytesIO(content), 2, header))
