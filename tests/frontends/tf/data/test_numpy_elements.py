"""`as_numpy_iterator` hands out what NumPy and Python have: texts as bytes."""

import numpy as np

from frontends import tf


def test_texts_are_bytes(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("x\n")
    files = tf.data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    expected = [str(tmp_path / name).encode() for name in "ab"]
    assert list(files.as_numpy_iterator()) == expected
    assert [type(one) for one in files.as_numpy_iterator()] == [bytes, bytes]
    (both,) = files.batch(2).as_numpy_iterator()
    assert both.dtype == object
    assert both.tolist() == expected


def test_texts_in_structures():
    data = tf.data.Dataset.from_tensor_slices({"name": ["a", "é"], "size": [1, 2]})
    first, second = data.as_numpy_iterator()
    assert first == {"name": b"a", "size": 1}
    assert second["name"] == "é".encode()
    assert type(first["size"]) is np.int32


def test_the_same_texts_from_all_sources():
    def rows():
        yield "a", b"b"

    generated = tf.data.Dataset.from_generator(rows, output_types=(tf.string, tf.string))
    assert list(generated.as_numpy_iterator()) == [(b"a", b"b")]
    mapped = tf.data.Dataset.range(1).map(lambda _: ("a", tf.constant(["b"])))
    ((text, texts),) = mapped.as_numpy_iterator()
    assert (text, texts.tolist()) == (b"a", [b"b"])
