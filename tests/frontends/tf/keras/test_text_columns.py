"""What layers find behind the fingerprints of texts."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.feature_column import Texts
from frontends.tf.keras._text_columns import FINGERPRINT, LAYOUT, Layout, own_columns
from spmd.assigned import assigned


def vectorize(length=None):
    return tf.keras.layers.TextVectorization(vocabulary=["a"], output_sequence_length=length)


def test_a_layer_takes_its_own_columns():
    other, layer = vectorize(1), vectorize(2)
    words = np.array(["a", "b"])
    assert own_columns(layer, Texts.of(words)) is None
    texts = Texts.of(words, np.arange(6, dtype=np.uint32).reshape(2, 3))
    with assigned(LAYOUT, Layout([other, layer])):
        assert own_columns(layer, texts).tolist() == [[1, 2], [4, 5]]
        assert layer(texts.reshape((2, 1))).tolist() == [[1, 2], [4, 5]]
    assert (texts == "b").tolist() == [False, True]


def test_each_combination_of_widths_has_a_number_of_columns_of_its_own():
    first, *_ = layers = vectorize(), vectorize()
    layout = Layout(layers)
    assert layout.is_open
    assert not Layout([vectorize(3)]).is_open
    numbers = {}
    for widths in [(1, 2), (2, 1), (1, 2), (0, 3), (3, 1)]:
        made = [np.full((2, width), width, np.uint32) for width in widths]
        columns = layout.join(made)
        numbers.setdefault(widths, columns.shape[1])
        assert numbers[widths] == columns.shape[1] >= sum(widths)
        for layer, result in zip(layers, made, strict=True):
            place = layout.place(layer, columns.shape[1])
            found = columns[:, place.start - FINGERPRINT : place.stop - FINGERPRINT]
            np.testing.assert_array_equal(found, result)
    assert len(set(numbers.values())) == len(numbers)
    assert layout.place(first, 99) is None
    assert layout.place(vectorize(), 3) is None


def test_a_layer_that_the_model_does_not_have():
    layer = vectorize(2)
    texts = Texts.of(np.array(["a", "b"]), np.zeros((2, 3), np.uint32))
    with pytest.raises(ValueError, match="Make it an attribute of the model"):
        own_columns(layer, texts)
