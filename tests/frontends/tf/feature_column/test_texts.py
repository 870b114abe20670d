"""Texts as their fingerprints."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf._text_hashes import buckets
from frontends.tf.feature_column import Texts, prepare, prepared
from frontends.tf.feature_column.texts import is_empty

WORDS = np.array([["fig", "pear", ""], ["plum", "漢字", "fig" * 50]])


def test_texts_of_all_kinds_are_the_same():
    as_bytes = np.char.encode(WORDS)
    for values in (WORDS, WORDS.astype(object), as_bytes, as_bytes.astype(object), WORDS.tolist()):
        texts = Texts.of(values)
        assert texts.shape == (2, 3)
        assert (texts.words == Texts.of(WORDS).words).all()


def test_a_program_compares_them_and_gives_them_to_buckets():
    @jax.jit
    def found(texts):
        return texts == "fig", texts != texts[:, :1], texts.buckets(1000), is_empty(texts)

    equal, unlike, hashed, empty = found(Texts.of(WORDS))
    np.testing.assert_array_equal(equal, WORDS == "fig")
    np.testing.assert_array_equal(unlike, WORDS[:, :1] != WORDS)
    np.testing.assert_array_equal(hashed, buckets(WORDS, 1000))
    np.testing.assert_array_equal(empty, WORDS == "")


def test_shapes():
    texts = Texts.of(WORDS)
    assert texts.dtype == tf.string
    assert (texts.ndim, len(texts), repr(texts)) == (2, 2, "Texts(shape=(2, 3))")
    assert (texts[0].shape, texts[:, 1:].shape, texts[..., 0].shape) == ((3,), (2, 2), (2,))
    assert (texts.reshape((3, 2)).words == Texts.of(WORDS.reshape(3, 2)).words).all()


def test_they_are_no_numbers():
    with pytest.raises(TypeError, match=r"these are texts, of the shape \(2, 3\)"):
        jnp.asarray(Texts.of(WORDS))


def test_prepare_replaces_texts_only():
    ages = np.arange(2)
    batch = {"name": WORDS, "more": [["a", "b"], ages]}, ages
    features, labels = prepare(*batch)
    assert isinstance(features["name"], Texts)
    assert isinstance(features["more"][0], Texts)
    assert features["more"][1] is ages
    assert labels is ages
    assert prepare(features)["name"] is features["name"]
    generator = (one for one in [1])
    assert prepare(generator) is generator


def test_a_dataset_can_prepare():
    data = tf.data.Dataset.from_tensor_slices({"name": WORDS, "age": np.arange(2)})
    for batch in (data.map(prepare).batch(2), data.batch(2).map(prepare)):
        (found,) = batch
        assert (found["name"].words == Texts.of(WORDS).words).all()


def test_only_a_dataset_with_texts_is_mapped():
    numbers = tf.data.Dataset.range(3).batch(3)
    assert prepared(numbers) is numbers
    (found,) = prepared(tf.data.Dataset.from_tensors({"name": WORDS, "age": 3}))
    assert (found["name"].words == Texts.of(WORDS).words).all()
    assert found["age"] == 3
