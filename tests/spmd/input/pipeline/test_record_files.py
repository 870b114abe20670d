"""Files of records: whole ones, ones in pieces, and damaged ones."""

import io
import random

import pytest

from spmd.errors import DamagedFileError
from spmd.input.pipeline import framed, records


def written(*contents: bytes) -> bytes:
    return b"".join(part for content in contents for part in framed(content))


class InPieces(io.BytesIO):
    """A file that gives a few bytes at a time."""

    def read(self, size=-1):
        return super().read(min(size, 7) if size > 0 else size)


@pytest.mark.parametrize("kind", [io.BytesIO, InPieces])
def test_records_come_back(kind):
    contents = [b"abc", b"", b"x" * 100, b"\0" * 5, b"", b"y"]
    assert list(records(kind(written(*contents)))) == contents
    assert list(records(kind(b""))) == []


def test_records_larger_than_a_block():
    contents = [random.Random(n).randbytes(n) for n in (300_000, 3, 700_001, 0, 262_144)]
    assert list(records(io.BytesIO(written(*contents)))) == contents


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (0, "the checksum of its length is wrong"),
        (9, "the checksum of its length is wrong"),
        (12, "the checksum of its content is wrong"),
        (20, "the checksum of its content is wrong"),
    ],
)
def test_damage_is_told_after_the_records_before(place, reason):
    before = written(b"first", b"second")
    content = bytearray(before + written(b"third") + written(b"fourth"))
    content[len(before) + place] ^= 4
    reader = records(io.BytesIO(content))
    assert [next(reader), next(reader)] == [b"first", b"second"]
    with pytest.raises(DamagedFileError, match=f"damaged after 2 records.* {reason}") as error:
        next(reader)
    assert error.value.offset == len(before)


@pytest.mark.parametrize("kind", [io.BytesIO, InPieces])
@pytest.mark.parametrize("kept", range(1, 19))
def test_files_that_were_cut_off(kind, kept):
    reader = records(kind(written(b"first") + written(b"abc")[:kept]))
    assert next(reader) == b"first"
    with pytest.raises(DamagedFileError, match="damaged after 1 records") as error:
        next(reader)
    assert error.value.offset == 21


def test_a_length_beyond_all_memory():
    length = (2**62).to_bytes(8, "little")
    checksum = framed(length)[3]
    with pytest.raises(DamagedFileError, match="the file ends before its end"):
        list(records(io.BytesIO(b"".join([length, checksum, b"abc"]))))


def test_the_file_is_named(tmp_path):
    path = tmp_path / "data.tfrecord"
    path.write_bytes(b"no records at all, by any means")
    with path.open("rb") as file, pytest.raises(DamagedFileError, match=str(path)) as error:
        list(records(file))
    assert error.value.path == str(path)
