"""Writing records: files of TensorFlow are read, and ours are the same."""

import gc

import pytest

from frontends import tf
from frontends.tf.io.record_writer import TFRecordOptions, TFRecordWriter

# Files of the records b"one" and b"", written by TensorFlow 2.21.
FILES = {
    "": "0300000000000000b099490e6f6e6501405508000000000000000029039807d8ea82a2",
    "GZIP": "1f8b0800000000000003636680800d333df9f2f352191d4239a0220c9acc33d86fbc6a5a040054c46fae23000000",
    "ZLIB": "789c636680800d333df9f2f352191d4239a0220c9acc33d86fbc6a5a04005ef70735",
}


@pytest.mark.parametrize("kind", FILES)
def test_files_of_tensorflow(tmp_path, kind):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.write_bytes(bytes.fromhex(FILES[kind]))
    assert list(tf.data.TFRecordDataset(str(theirs), kind)) == [b"one", b""]
    assert list(tf.python_io.tf_record_iterator(str(theirs), kind)) == [b"one", b""]
    with TFRecordWriter(ours, kind) as writer:
        writer.write(b"one")
        writer.write(b"")
    assert list(tf.data.TFRecordDataset(ours, kind)) == [b"one", b""]
    if not kind:
        assert ours.read_bytes().hex() == FILES[kind]


def test_options_of_both_versions(tmp_path):
    kinds = tf.python_io.TFRecordCompressionType
    options = tf.python_io.TFRecordOptions(kinds.ZLIB)
    assert TFRecordOptions.get_compression_type_string(options) == "ZLIB"
    assert TFRecordOptions.get_compression_type_string(kinds.GZIP) == "GZIP"
    small = TFRecordOptions("GZIP", compression_level=9, window_bits=31, mem_level=9)
    path = tmp_path / "packed"
    with tf.io.TFRecordWriter(path, small) as writer:
        writer.write(b"x" * 10_000)
    assert path.stat().st_size < 200
    assert list(tf.data.TFRecordDataset(path, "GZIP")) == [b"x" * 10_000]


def test_what_was_flushed_is_in_the_file(tmp_path):
    path = tmp_path / "packed"
    writer = TFRecordWriter(path, "GZIP")
    writer.write(b"abc")
    writer.flush()
    assert path.stat().st_size > 20
    writer.close()
    assert list(tf.data.TFRecordDataset(path, "GZIP")) == [b"abc"]


def test_a_writer_that_nobody_closes(tmp_path):
    TFRecordWriter(tmp_path / "a").write(b"abc")
    gc.collect()
    assert list(tf.data.TFRecordDataset(tmp_path / "a")) == [b"abc"]


def test_a_writer_that_is_closed(tmp_path):
    writer = TFRecordWriter(tmp_path / "a")
    writer.close()
    for call in (writer.flush, lambda: writer.write(b"")):
        with pytest.raises(RuntimeError, match="Writer is closed"):
            call()


def test_what_is_no_record(tmp_path):
    with (
        TFRecordWriter(tmp_path / "a") as writer,
        pytest.raises(TypeError, match="SerializeToString"),
    ):
        writer.write(3)
