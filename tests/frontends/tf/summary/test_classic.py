"""Summaries in TensorFlow 1's format; the numbers are those that TensorFlow 2.15 writes."""

import io

import numpy as np
import pytest
from PIL import Image

from frontends.tf.summary.classic import encoded
from frontends.tf.summary.collected import Summary


def one(kind, value, max_outputs=None):
    return encoded([Summary("it", kind, None, max_outputs)], {"it": value}).value


def test_a_number_is_simple():
    (value,) = one("scalar", np.float32(0.5))
    assert (value.tag, value.simple_value) == ("it", 0.5)


def test_buckets_grow_by_a_tenth():
    histo = one("histogram", np.float32([5.0]))[0].histo
    assert (histo.min, histo.max, histo.num, histo.sum, histo.sum_squares) == (5, 5, 1, 5, 25)
    assert list(histo.bucket) == [0, 1, 0]
    assert list(histo.bucket_limit[:2]) == pytest.approx([4.636194617418625, 5.099814079160488])
    assert histo.bucket_limit[2] == np.finfo(np.float64).max


def test_empty_buckets_in_a_row_are_one():
    values = np.float32([0, 0, 1, -2.5, 3e-13, 1e21, -1e-12, 7, 7.1])
    histo = one("histogram", values)[0].histo
    assert list(histo.bucket) == [0, 1, 0, 1, 3, 0, 1, 0, 2, 0, 1]


def test_nothing_is_a_histogram_without_buckets():
    histo = one("histogram", np.zeros(0))[0].histo
    assert (histo.num, list(histo.bucket)) == (0, [0])


def test_what_is_no_number_is_an_error():
    with pytest.raises(ValueError, match="Nan in summary histogram for: it"):
        one("histogram", np.float32([np.nan]))


@pytest.mark.parametrize(
    ("pixels", "expected"),
    [
        ([0.0, 0.5, 1.0, 2.0], [0, 63, 127, 255]),
        ([-1.0, 0.5, 1.0, 0.0], [1, 191, 255, 128]),
        ([0.0, 0.0, 0.0, 1e-9], [0, 0, 0, 0]),
        ([np.nan, 0.2, 1.0, 0.4], [255, 51, 255, 102]),
    ],
)
def test_floats_are_stretched(pixels, expected):
    (value,) = one("image", np.float32(pixels).reshape(1, 2, 2, 1), max_outputs=1)
    assert (value.tag, value.image.width, value.image.colorspace) == ("it/image", 2, 1)
    shown = Image.open(io.BytesIO(value.image.encoded_image_string))
    assert np.asarray(shown).ravel().tolist() == expected


def test_bytes_stay_and_several_images_are_numbered():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    values = one("image", pixels, max_outputs=3)
    assert [value.tag for value in values] == ["it/image/0", "it/image/1"]
    shown = Image.open(io.BytesIO(values[1].image.encoded_image_string))
    np.testing.assert_array_equal(np.asarray(shown), pixels[1])


def test_texts_are_for_their_plugin():
    (value,) = one("text", np.asarray("hello"))
    assert value.metadata.plugin_data.plugin_name == "text"
    assert list(value.tensor.string_val) == [b"hello"]
