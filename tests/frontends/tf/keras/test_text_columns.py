"""What layers find behind the fingerprints of texts."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.feature_column import Texts
from frontends.tf.keras._text_columns import PLACES, own_columns
from spmd.assigned import assigned


def test_a_layer_takes_its_own_columns():
    layer = tf.keras.layers.TextVectorization(vocabulary=["a"], output_sequence_length=2)
    words = np.array(["a", "b"])
    assert own_columns(layer, Texts.of(words)) is None
    texts = Texts.of(words, np.arange(6, dtype=np.uint32).reshape(2, 3))
    with assigned(PLACES, {layer: slice(3, None)}):
        assert own_columns(layer, texts).tolist() == [[1, 2], [4, 5]]
        assert layer(texts.reshape((2, 1))).tolist() == [[1, 2], [4, 5]]
    assert (texts == "b").tolist() == [False, True]


def test_two_layers_whose_widths_texts_decide_are_refused():
    layers = [tf.keras.layers.TextVectorization(vocabulary=["a"]) for _ in range(2)]
    text = tf.keras.Input((1,), dtype="string")
    model = tf.keras.Model(text, [layer(text) for layer in layers])
    with pytest.raises(ValueError, match="Set output_sequence_length in the others"):
        model.predict(tf.constant(["a", "b"]), verbose=0)
