"""Files: names, lines and TFRecords, compressed or not, damaged or missing."""

import gzip
import importlib.util
import random
import zlib
from pathlib import Path

import pytest

from frontends import tf
from frontends.tf.data import UNKNOWN_CARDINALITY, Dataset, TextLineDataset, TFRecordDataset
from spmd.input.pipeline import framed
from tests.frontends.tf.io.test_wire import mutated

# Written by hand after TensorFlow's description of the format; the checksums are CRC32C, masked.
RECORD = bytes.fromhex("0300000000000000b099490e") + b"abc" + bytes.fromhex("6e57f121")


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return str(path)

    return write


def test_lines(write):
    one, two = write("one", b"to be\r\nor not\n\n to be\n"), write("two", b"last")
    dataset = TextLineDataset([one, two])
    assert list(dataset) == list(dataset) == [b"to be", b"or not", b"", b" to be", b"last"]
    assert dataset.cardinality() == UNKNOWN_CARDINALITY
    assert list(TextLineDataset(Path(two))) == [b"last"]
    assert dataset.element_spec.shape == ()


def test_lines_are_mapped_and_batched(write):
    rows = TextLineDataset(write("rows.csv", b"a,b\n1,2\n3,4\n")).skip(1)
    numbers = rows.map(lambda line: [float(x) for x in line.split(b",")])
    assert [batch.tolist() for batch in numbers.batch(2)] == [[[1, 2], [3, 4]]]


@pytest.mark.parametrize(("name", "press"), [("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_compressed(write, name, press):
    assert list(TextLineDataset(write("text", press(b"a\nb")), compression_type=name)) == [
        b"a",
        b"b",
    ]
    records = write("records", press(2 * RECORD))
    assert list(TFRecordDataset(records, compression_type=name)) == [b"abc", b"abc"]
    with pytest.raises(ValueError, match="not a TFRecord file, or is damaged after 0 records"):
        list(TFRecordDataset(records))
    with pytest.raises(ValueError, match="compression_type must be"):
        TFRecordDataset(records, compression_type="zip")


def test_records_by_another_writer():
    spec = importlib.util.find_spec("grain")
    folder = Path(spec.submodule_search_locations[0])
    path = folder / "_src/python/testdata/morris_sequence_first_5.tfrecord"
    expected = [b"1", b"1 1", b"2 1", b"1 2 1 1", b"1 1 1 2 2 1"]
    assert list(tf.data.TFRecordDataset(str(path))) == expected


@pytest.mark.parametrize("kept", [5, 12, 14, 17])
def test_damaged_records(write, kept):
    path = write("cut", RECORD + RECORD[:kept])
    with pytest.raises(ValueError, match="damaged after 1 records"):
        list(TFRecordDataset(path))


def check_mutated(path, count, seed):
    """The records before the damage, as they were written, and then an error that says where it is."""
    rng = random.Random(seed)
    records = [rng.randbytes(3 * number) for number in range(6)]
    plain = b"".join(part for record in records for part in framed(record))
    kinds = {"": plain, "GZIP": gzip.compress(plain, mtime=0), "ZLIB": zlib.compress(plain)}
    whole = 0
    for number in range(count):
        kind = list(kinds)[number % 3]
        path.write_bytes(mutated(kinds[kind], rng))
        found, told = [], ""
        try:
            found += TFRecordDataset(str(path), compression_type=kind).as_numpy_iterator()
        except tf.errors.DataLossError as error:
            told = str(error)
        assert found == records[: len(found)]
        assert str(path) in told or len(found) == len(records)
        whole += not told
    assert whole < count / 20  # as after a changed byte of GZIP's own time of day


def test_mutated_files(tmp_path):
    check_mutated(tmp_path / "a", 60, seed=3)


@pytest.mark.slow
def test_many_mutated_files(tmp_path):
    check_mutated(tmp_path / "a", 10_000, seed=4)


def test_missing_files():
    missing = TextLineDataset("/no/such/file")  # like every dataset, read later
    with pytest.raises(FileNotFoundError, match="/no/such/file"):
        list(missing)
    for error in (FileNotFoundError, tf.errors.InvalidArgumentError):
        with pytest.raises(error, match="no file matches"):
            Dataset.list_files("/no/such/*.file")


def test_list_files(write, tmp_path):
    for name in ("b.rec", "a.rec", "c.txt"):
        write(name, RECORD)
    names = Dataset.list_files(str(tmp_path / "*.rec"), shuffle=False)
    assert [Path(name).name for name in names] == ["a.rec", "b.rec"]
    patterns = [str(tmp_path / "*.txt"), str(tmp_path / "a*")]
    assert [Path(name).name for name in Dataset.list_files(patterns, False)] == ["a.rec", "c.txt"]
    shuffled = Dataset.list_files(str(tmp_path / "*"), seed=1)
    again = Dataset.list_files(str(tmp_path / "*"), seed=1)
    assert [list(shuffled), list(shuffled)] == [list(again), list(again)]
    assert len(shuffled) == 3


def test_files_are_interleaved(write, tmp_path):
    for name in ("a", "b"):
        write(name, f"{name}1\n{name}2\n{name}3\n".encode())
    names = Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    mixed = names.interleave(TextLineDataset, cycle_length=2, num_parallel_calls=tf.data.AUTOTUNE)
    assert list(mixed) == [b"a1", b"b1", b"a2", b"b2", b"a3", b"b3"]
    assert list(TextLineDataset(names)) == [b"a1", b"a2", b"a3", b"b1", b"b2", b"b3"]


def test_files_of_a_store(bucket):
    for name, compression in (("a", None), ("b", "GZIP")):
        with tf.io.TFRecordWriter(f"{bucket}/{name}.tfrecord", compression) as writer:
            writer.write(name.encode())
    tf.io.write_file(f"{bucket}/c.txt", b"one\ntwo\n")
    found = list(Dataset.list_files(f"{bucket}/*.tfrecord", shuffle=False))
    assert found == [f"{bucket}/a.tfrecord", f"{bucket}/b.tfrecord"]
    assert list(TFRecordDataset(found[0]).as_numpy_iterator()) == [b"a"]
    assert list(TFRecordDataset(found[1], "GZIP").as_numpy_iterator()) == [b"b"]
    assert list(TextLineDataset(f"{bucket}/c.txt").as_numpy_iterator()) == [b"one", b"two"]
    records = tf.data.FixedLengthRecordDataset(f"{bucket}/c.txt", 4)
    assert list(records.as_numpy_iterator()) == [b"one\n", b"two\n"]
    with pytest.raises(tf.errors.NotFoundError):
        list(TFRecordDataset(f"{bucket}/none"))
