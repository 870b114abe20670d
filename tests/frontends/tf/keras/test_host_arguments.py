"""Layers and models called with texts, ragged and sparse tensors. TensorFlow 2.21 gives the same results."""

import keras
import numpy as np
import pytest

from frontends import tf

TEXTS = ["Ab cd", "ef", "gh ab"]


class Upper(tf.keras.layers.Layer):
    def call(self, texts):
        return tf.strings.upper(texts)


class Numbers(tf.keras.layers.Layer):
    """Looks texts up in a table."""

    def __init__(self):
        super().__init__()
        words = tf.lookup.KeyValueTensorInitializer(["Ab cd", "ef"], tf.constant([0, 1], tf.int64))
        self.table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=1)

    def call(self, texts):
        return self.table.lookup(texts)


class Lengths(tf.keras.layers.Layer):
    def call(self, texts, numbers):
        return tf.strings.length(texts), numbers * 2


def test_a_layer_gets_texts_as_they_are():
    assert Upper()(tf.constant(TEXTS)).tolist() == [b"AB CD", b"EF", b"GH AB"]
    assert Upper()(np.array(["a", "b"])).tolist() == [b"A", b"B"]
    assert Numbers()(tf.constant(TEXTS)).tolist() == [0, 1, 2]


def test_a_layer_gets_texts_in_the_map_of_a_dataset():
    dataset = tf.data.Dataset.from_tensor_slices(TEXTS).batch(2).map(Numbers())
    assert [batch.tolist() for batch in dataset.as_numpy_iterator()] == [[0, 1], [2]]


def test_a_layer_gets_ragged_tensors_as_they_are():
    ragged = tf.ragged.constant([["a", "bb"], ["c"]])
    assert Upper()(ragged).to_list() == [[b"A", b"BB"], [b"C"]]
    assert tf.keras.layers.Lambda(tf.strings.length)(ragged).to_list() == [[1, 2], [1]]


def test_arguments_beside_texts_become_tensors_of_the_layer_s_type():
    lengths, numbers = Lengths(dtype="float16")(tf.constant(TEXTS), np.array([1.0, 2.0, 3.0]))
    assert lengths.tolist() == [5, 2, 5]
    assert (numbers.dtype, numbers.tolist()) == (np.float16, [2, 4, 6])


def test_a_layer_gets_a_dict_of_texts_and_numbers():
    class Both(tf.keras.layers.Layer):
        def call(self, features):
            return tf.strings.length(features["text"]) + features["number"]

    features = {"text": tf.constant(["a", "bb"]), "number": tf.constant([10, 20])}
    assert np.asarray(Both()(features)).tolist() == [11, 22]


def test_a_layer_that_got_texts_still_gets_numbers_as_tensors():
    class Same(tf.keras.layers.Layer):
        def call(self, inputs):
            return inputs

    layer = Same()
    layer(tf.constant(TEXTS))
    assert keras.ops.is_tensor(layer(np.array([1.0])))
    assert layer(np.array([1.0])).dtype == np.float32


def test_a_layer_is_built_for_the_shape_of_texts():
    class Weighted(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_weight(shape=input_shape[1:], initializer="ones")

        def call(self, texts):
            return tf.cast(tf.strings.length(texts), tf.float32) * self.scale

    layer = Weighted()
    assert layer(tf.constant([["a", "bb"]])).tolist() == [[1, 2]]
    assert layer.scale.shape == (2,)


@pytest.mark.parametrize("texts", [["ab", "cd ef"], [["ab"], ["cd ef"]]])
def test_a_subclassed_model_is_called_with_texts_and_trained_after(texts):
    class Classifier(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.vectorize = tf.keras.layers.TextVectorization(
                vocabulary=["ab", "cd", "ef"], output_sequence_length=3
            )
            self.embed = tf.keras.layers.Embedding(5, 2)
            self.pool = tf.keras.layers.GlobalAveragePooling1D()
            self.dense = tf.keras.layers.Dense(1)

        def call(self, texts):
            return self.dense(self.pool(self.embed(self.vectorize(texts))))

    model = Classifier()
    model.compile("sgd", "mse")
    before = np.asarray(model(tf.constant(texts)))
    assert before.shape == (2, 1)
    np.testing.assert_allclose(model.predict(np.array(texts), verbose=0), before, rtol=1e-5)
    model.fit(np.array(texts), np.ones((2, 1)), verbose=0)
    assert np.asarray(model(tf.constant(texts))).tolist() != before.tolist()


SPARSE = tf.sparse.SparseTensor([(0, 0), (2, 1)], [1.0, 2.0], (3, 2))
DENSE = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]], np.float32)


def test_a_layer_of_a_script_gets_sparse_tensors_as_they_are():
    class Entries(tf.keras.layers.Layer):
        def call(self, sparse):
            return sparse.values * 2

    assert np.asarray(Entries()(SPARSE)).tolist() == [2, 4]


def test_layers_and_models_of_keras_take_sparse_tensors():
    inputs = tf.keras.Input((2,), sparse=True)
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
    model = tf.keras.Model(inputs, layer(inputs))
    model.compile("sgd", "mse")
    expected = DENSE.sum(1, keepdims=True).tolist()
    assert layer(SPARSE).tolist() == expected
    assert model(SPARSE).tolist() == expected
    assert model.predict(SPARSE, verbose=0).tolist() == expected
    model.fit(SPARSE, np.zeros((3, 1)), batch_size=3, verbose=0)
    np.testing.assert_allclose(layer.kernel.numpy(), [[1 - 0.02 / 3], [1 - 0.08 / 3]], rtol=1e-5)


def test_a_subclassed_model_takes_sparse_tensors_for_its_layers():
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, inputs):
            return self.dense(inputs)

    assert Model()(SPARSE).tolist() == DENSE.sum(1, keepdims=True).tolist()
