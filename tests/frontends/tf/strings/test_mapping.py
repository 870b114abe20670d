"""Texts in arrays of any shape."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.strings.mapping import in_parts, on_each


@pytest.mark.parametrize("shape", [(), (0,), (2,), (2, 3), (2, 0)])
def test_shapes(shape):
    texts = np.full(shape, b"ab", object)[()]
    assert on_each(len, texts, "f", np.int32).shape == shape
    found = in_parts(lambda text: [text[:1], text[1:]], texts, "f")
    assert list(found.shape) == [*shape, None] if shape else found.tolist() == [b"a", b"b"]


def test_zeros_at_the_end_stay():
    assert tf.strings.lower(b"A\0").numpy() == b"a\0"
    assert tf.strings.join([[b"a\0"], [b"b\0"]]).tolist() == [b"a\0b\0"]


def test_a_text_is_a_tensor():
    text = tf.strings.upper("a")
    assert text.numpy() == b"A"
    assert text == "A"
    assert text != "B"
    assert text in {b"A"}
    assert np.asarray(text).item() == b"A"
    assert np.asarray([text, text]).tolist() == [b"A", b"A"]
    assert tf.constant(["a", "é"]).numpy().tolist() == [b"a", "é".encode()]


def test_a_batch_keeps_its_texts_on_the_host():
    dataset = tf.data.Dataset.from_tensor_slices((["a", "b", "c", "d"], [1, 2, 3, 4])).batch(4)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    ((texts, numbers),) = strategy.experimental_distribute_dataset(
        dataset.map(lambda text, number: (tf.strings.upper(text), number))
    )
    local = strategy.experimental_local_results
    assert [np.asarray(one).tolist() for one in local(texts)] == [[b"A", b"B"], [b"C", b"D"]]
    assert [one.tolist() for one in local(numbers)] == [[1, 2], [3, 4]]
    found = strategy.run(lambda x: x * 2, (numbers,))
    assert [one.tolist() for one in local(found)] == [[2, 4], [6, 8]]
