"""Decoding and encoding pictures; the recorded results have the numbers."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from frontends import tf

PIXELS = np.tile(np.arange(16, dtype=np.uint8)[:, None, None] * 10, (1, 12, 3))


def test_names_of_both_modules():
    for name in ("decode_jpeg", "decode_png", "decode_image", "encode_jpeg", "is_jpeg"):
        assert getattr(tf.io, name) is getattr(tf.image, name)
        assert getattr(tf.compat.v1.image, name) is getattr(tf.image, name)


def test_decodes_in_a_map_with_shapes_that_vary():
    files = [tf.io.encode_png(PIXELS[: 4 + n]) for n in range(4)]
    dataset = tf.data.Dataset.from_tensor_slices(files)

    def parse(data):
        image = tf.io.decode_jpeg(data, channels=3)
        image.set_shape([None, None, 3])
        image = tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.resize(image, [6, 6])

    (batch,) = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(4)
    assert batch.shape.as_list() == [4, 6, 6, 3]
    expected = tf.image.resize(PIXELS[:5] / np.float32(255), [6, 6])
    np.testing.assert_allclose(batch[1], expected, rtol=1e-5)


def test_encoded_bytes_have_a_tensors_methods():
    data = tf.io.encode_jpeg(PIXELS)
    assert isinstance(data.numpy(), bytes)
    assert bool(tf.io.is_jpeg(data))
    assert not bool(tf.io.is_jpeg(tf.io.encode_png(PIXELS)))
    assert tf.io.extract_jpeg_shape(data).tolist() == [16, 12, 3]
    difference = abs(np.asarray(tf.io.decode_jpeg(data)).astype(int) - PIXELS)
    assert difference.max() < 10


def test_images_of_more_axes_become_many_files():
    files = tf.io.encode_png(np.stack([PIXELS, PIXELS[::-1]]))
    assert files.shape == (2,)
    np.testing.assert_array_equal(tf.io.decode_png(files[1]), PIXELS[::-1])


def test_errors_say_what_to_do():
    with pytest.raises(
        ValueError, match=r"got a text of 5 characters. Read the file: tf.io.read_file"
    ):
        tf.io.decode_jpeg("a.jpg")
    with pytest.raises(ValueError, match="expected a JPEG, PNG or GIF, got 7 bytes"):
        tf.io.decode_jpeg(b"nothing")
    with pytest.raises(ValueError, match="Devices hold no text: decode in a map function"):
        tf.function(tf.io.decode_jpeg)(tf.constant(1))
    with pytest.raises(ValueError, match="convert_image_dtype"):
        tf.io.encode_png(PIXELS / 255)


@hypothesis.settings(max_examples=200, deadline=None)
@hypothesis.given(st.data())
def test_damaged_files_are_an_error_or_pixels(data):
    kind = data.draw(st.sampled_from(["jpg", "png", "wide"]))
    pixels = PIXELS.astype(np.uint16) if kind == "wide" else PIXELS
    file = bytearray(tf.io.encode_jpeg(pixels) if kind == "jpg" else tf.io.encode_png(pixels))
    for _ in range(data.draw(st.integers(1, 4))):
        file[data.draw(st.integers(8, len(file) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(file[: data.draw(st.integers(9, len(file)))])
    try:
        found = tf.io.decode_image(cut)
    except ValueError:
        return
    assert found.dtype == tf.uint8
