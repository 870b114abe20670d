"""Raw bytes, CSV and base64: what the recorded cases (tests/golden, records) leave out."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.io import decoding


def test_raw_numbers_may_be_written_to():
    pixels = decoding.decode_raw(b"ab", tf.uint8)
    pixels[0] = 0
    pixels.set_shape([2])
    assert pixels.tolist() == [0, 98]


def test_raw_numbers_are_reshaped_in_a_map():
    dataset = tf.data.Dataset.from_generator(lambda: iter([bytes(4), b"abcd"])).map(
        lambda text: tf.reshape(tf.cast(tf.io.decode_raw(text, tf.uint8), tf.float32), [2, 2])
    )
    assert next(iter(dataset.batch(2)))[1].tolist() == [[97.0, 98.0], [99.0, 100.0]]


def test_types_of_columns():
    kinds = [[1], [1.0], ["a"], [2**40], np.zeros(1), tf.constant([1.0]), tf.int64, []]
    dtypes = [decoding.CsvColumn(one).dtype for one in kinds]
    expected = [np.int32, np.float32, object, np.int64, np.float64, np.float32, np.int64]
    assert dtypes[:-1] == expected
    with pytest.raises(ValueError, match="columns are float32"):
        decoding.CsvColumn(tf.bool)


def test_lines_of_a_file_as_scripts_have_it():
    dataset = tf.data.Dataset.from_tensor_slices(["1,2.5,a", "3,,b"])

    def parse(line):
        *features, label = tf.io.decode_csv(line, [[0], [0.5], [""]])
        return dict(zip(("n", "x"), features, strict=True)), label

    batches = list(dataset.map(parse).batch(2))
    assert batches[0][0]["x"].tolist() == [2.5, 0.5]
    assert batches[0][1].tolist() == [b"a", b"b"]


@pytest.mark.parametrize("field", [b"1_000", b"0x10", b"\xd9\xa1", b"1 2"])
def test_what_only_python_takes_for_a_number(field):
    with pytest.raises(ValueError, match="is not a valid"):
        decoding.CsvColumn([0]).value(field, "", 0, 0)
    with pytest.raises(ValueError, match="is not a valid"):
        decoding.CsvColumn([0.0]).value(field, "", 0, 0)
