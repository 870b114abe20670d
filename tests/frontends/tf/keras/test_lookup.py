"""Layers that give strings and integers indices; tests/golden compares the indices with TensorFlow's."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.feature_column import Texts

WORDS = ["pear", "plum", "fig"]


def preprocessing(layer, size=3):
    text = tf.keras.Input((size,), dtype=tf.string, name="text")
    return tf.keras.Model({"text": text}, layer(text))


def test_a_model_takes_strings():
    model = preprocessing(tf.keras.layers.StringLookup(vocabulary=WORDS))
    indices = model({"text": np.array([["fig", "pear", "kiwi"]])})
    assert indices.numpy().tolist() == [[3, 1, 0]]
    assert model.output_shape == (None, 3)


def test_a_model_that_takes_strings_runs_in_a_map_function():
    model = preprocessing(tf.keras.layers.StringLookup(vocabulary=WORDS), size=2)
    rows = tf.data.Dataset.from_tensor_slices({"text": [["fig", "pear"], ["plum", "kiwi"]]})
    for dataset in (rows.batch(2).map(model), rows.map(model).batch(2)):
        assert [batch.tolist() for batch in dataset.as_numpy_iterator()] == [[[3, 1], [2, 0]]]


def test_bytes_are_text_as_well():
    layer = tf.keras.layers.StringLookup(vocabulary=[b"a", b"b"])
    assert layer(np.array([b"b", b"c"])).tolist() == [2, 0]
    assert layer(np.array(["b", b"c"], object)).tolist() == [2, 0]
    with pytest.raises(TypeError, match="IntegerLookup"):
        layer(np.array([1]))


def test_lookups_of_integers_are_programs():
    layer = tf.keras.layers.IntegerLookup(vocabulary=[10, 20], mask_token=0)
    lookup = tf.function(lambda ids: layer(ids))
    assert lookup(tf.constant([[20, 10, 5, 0]])).numpy().tolist() == [[3, 2, 1, 0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.keras.layers.StringLookup(vocabulary=WORDS, mask_token="", num_oov_indices=2),
        lambda: tf.keras.layers.StringLookup(
            vocabulary=WORDS, output_mode="tf_idf", idf_weights=[1.0, 2.0, 3.0]
        ),
        lambda: tf.keras.layers.Hashing(7, salt=3, output_mode="count"),
    ],
)
def test_a_saved_model_keeps_the_layer(make, tmp_path):
    model = preprocessing(make())
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    text = {"text": np.array([["fig", "kiwi", ""]])}
    assert loaded(text).tolist() == model(text).tolist()


def test_a_vocabulary_comes_from_a_file(tmp_path):
    (tmp_path / "words.txt").write_text("pear\nplum\n")
    layer = tf.keras.layers.StringLookup(vocabulary=str(tmp_path / "words.txt"))
    assert layer.get_vocabulary() == ["[UNK]", "pear", "plum"]


def test_unknown_tokens_without_an_index_are_named():
    layer = tf.keras.layers.StringLookup(vocabulary=WORDS, num_oov_indices=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\['kiwi'\].*num_oov_indices=1"):
        layer(np.array(["fig", "kiwi"]))


def test_a_layer_without_a_vocabulary_says_how_to_get_one():
    with pytest.raises(RuntimeError, match="adapt"):
        tf.keras.layers.StringLookup()(np.array(["fig"]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output_mode": "all"}, "multi_hot"),
        ({"max_tokens": 1}, "max_tokens"),
        ({"pad_to_max_tokens": True}, "max_tokens"),
        ({"num_oov_indices": -1}, "num_oov_indices"),
        ({"invert": True, "output_mode": "count"}, "invert"),
        ({"sparse": True, "output_mode": "count"}, "dense"),
        ({"vocabulary": []}, "empty"),
        ({"vocabulary": ["a", ""], "mask_token": ""}, "reserved"),
        ({"vocabulary": ["a"], "idf_weights": [1.0]}, "tf_idf"),
        ({"vocabulary": ["a"], "idf_weights": [1.0, 2.0], "output_mode": "tf_idf"}, "shape"),
    ],
)
def test_arguments_that_do_not_fit_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.keras.layers.StringLookup(**arguments)


def test_hashing_needs_bins():
    with pytest.raises(ValueError, match="num_bins"):
        tf.keras.layers.Hashing(0)


def test_the_old_names_are_the_same_layers():
    former = tf.keras.layers.experimental.preprocessing
    assert former.StringLookup is tf.keras.layers.StringLookup
    assert former.IntegerLookup is tf.keras.layers.IntegerLookup
    assert former.Hashing is tf.keras.layers.Hashing


def test_inputs_of_64_bits_are_taken_as_32_without_a_warning(recwarn):
    ids = tf.keras.Input((2,), dtype=tf.int64)
    model = tf.keras.Model(ids, tf.keras.layers.Embedding(3, 1, "ones")(ids))
    assert model(np.array([[0, 2]])).tolist() == [[[1.0], [1.0]]]
    assert not [one for one in recwarn if "int64" in str(one.message)]


@pytest.mark.parametrize(("mode", "shape"), [("multi_hot", (0, 4)), ("one_hot", (0, 3, 4))])
def test_an_empty_batch(mode, shape):
    layer = tf.keras.layers.StringLookup(vocabulary=WORDS, output_mode=mode)
    assert layer(np.zeros((0, 3), "U1")).shape == shape


def test_rows_of_different_lengths_keep_them():
    layer = tf.keras.layers.StringLookup(vocabulary=list("abcxyz"))
    back = tf.keras.layers.StringLookup(vocabulary=list("abcxyz"), invert=True)
    rows = tf.strings.unicode_split(["abx", "zq"], "UTF-8")
    assert layer(rows).to_list() == [[1, 2, 4], [6, 0]]
    assert back(layer(rows)).to_list() == [[b"a", b"b", b"x"], [b"z", b"[UNK]"]]
    assert back(tf.constant(2)).numpy() == b"b"


@pytest.mark.parametrize("oov", [1, 3])
@pytest.mark.parametrize("mode", ["int", "multi_hot", "count"])
def test_a_program_finds_texts_by_their_fingerprints(oov, mode):
    layer = tf.keras.layers.StringLookup(
        vocabulary=["a", "b"], num_oov_indices=oov, mask_token="", output_mode=mode
    )
    words = np.array([["a", "c", "", "b"], ["d", "b", "b", "e"]])
    found = jax.jit(lambda texts: layer.call(texts))(Texts.of(words))
    np.testing.assert_array_equal(found, layer(words))


@pytest.mark.parametrize("mask", [None, "b"])
def test_a_program_hashes_texts_by_their_fingerprints(mask):
    layer = tf.keras.layers.Hashing(4, mask_value=mask)
    words = np.array(["a", "b", "c", "d"])
    found = jax.jit(lambda texts: layer.call(texts))(Texts.of(words))
    np.testing.assert_array_equal(found, layer(words))
