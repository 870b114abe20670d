"""`TextVectorization` in datasets and models; tests/golden compares indices and vectors with TensorFlow's."""

import numpy as np
import pytest

from frontends import tf

TEXTS = ["The cat sat!", "a dog"]


def vectorization(**kwargs):
    return tf.keras.layers.TextVectorization(vocabulary=["the", "cat"], **kwargs)


@pytest.mark.parametrize("size", [1, 2])
def test_a_dataset_maps_texts_and_batches_of_them(size):
    layer = vectorization(output_sequence_length=3)
    texts = tf.data.Dataset.from_tensor_slices(TEXTS)
    expected = [[2, 3, 1], [1, 1, 0]]
    if size == 1:
        found = list(texts.map(layer).as_numpy_iterator())
    else:
        (found,) = texts.batch(size).map(layer).as_numpy_iterator()
    assert np.array(found).tolist() == expected


def test_a_model_takes_texts_and_keeps_its_vocabulary(tmp_path):
    inputs = tf.keras.Input((1,), dtype=tf.string)
    ids = vectorization(output_sequence_length=3, ngrams=(1, 2))(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Embedding(5, 2)(ids))
    assert model.output_shape == (None, 3, 2)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    texts = np.array(TEXTS)[:, None]
    assert loaded(texts).tolist() == model(texts).tolist()


@tf.keras.utils.register_keras_serializable("tests")
def without_breaks(texts):
    return tf.strings.regex_replace(tf.strings.lower(texts), "<br />", " ")


def test_functions_are_saved_by_name():
    layer = vectorization(standardize=without_breaks)
    config = tf.keras.layers.serialize(layer)
    again = tf.keras.layers.deserialize(config)
    assert layer(["The<br />cat"]).tolist() == again(["The<br />cat"]).tolist() == [[2, 3]]


def test_bytes_that_are_no_utf8_are_tokens():
    layer = tf.keras.layers.TextVectorization()
    layer.adapt(np.array([b"a \xff b", b"\xff a \xff"], object))
    assert layer(np.array([b"\xff b"], object)).tolist() == [[2, 4]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "words"}, "'whitespace', 'character', or a function"),
        ({"output_mode": "all"}, "multi_hot"),
        ({"encoding": "latin1"}, "Decode"),
        ({"output_mode": "count", "ragged": True}, "'int'"),
        ({"ngrams": 0}, "ngrams"),
        ({"output_mode": "count", "sparse": True}, "dense"),
    ],
)
def test_arguments_that_do_not_fit_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        vectorization(**arguments)


def test_a_layer_without_a_vocabulary_names_itself():
    with pytest.raises(RuntimeError, match=r"words .*adapt"):
        tf.keras.layers.TextVectorization(name="words")(TEXTS)
