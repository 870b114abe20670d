"""Texts of batches, which predictions may give back."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.batch_texts import BatchTexts
from frontends.tf.feature_column import Texts

NAMES = np.array(["Ada", "", "Björn"])


def _read(texts, dataset):
    return list(texts.taken_from(texts.beside(dataset)))


def test_texts_are_those_of_the_last_batch():
    texts = BatchTexts()
    rows = tf.data.Dataset.from_tensor_slices({"name": NAMES, "x": np.arange(3)}).batch(2)
    batches = texts.taken_from(texts.beside(rows))
    first = next(batches)
    assert isinstance(first["name"], Texts)
    assert texts.behind(first["name"].words).tolist() == [b"Ada", b""]
    last = next(batches)
    assert texts.behind(np.asarray(last["name"].words)[:, None]).tolist() == [["Björn".encode()]]
    with pytest.raises(ValueError, match="A prediction is a text that the batch has not"):
        texts.behind(first["name"].words)


def test_a_dataset_without_texts_stays_as_it_is():
    texts, rows = BatchTexts(), tf.data.Dataset.from_tensor_slices(np.arange(4)).batch(2)
    assert texts.beside(rows) is rows
    assert [one.tolist() for one in _read(texts, rows)] == [[0, 1], [2, 3]]


def test_predictions_give_texts_back():
    def model_fn(features, labels, mode):
        name = tf.reshape(features["name"], [-1, 1])
        return tf.estimator.EstimatorSpec(mode, {"name": name, "bucket": _bucket(features["name"])})

    def _bucket(names):
        return tf.strings.to_hash_bucket_fast(names, 7)

    def input_fn():
        return tf.data.Dataset.from_tensor_slices({"name": NAMES}).batch(2)

    rows = list(tf.estimator.Estimator(model_fn).predict(input_fn))
    assert [row["name"].tolist() for row in rows] == [[name.encode()] for name in NAMES]
    assert [row["bucket"] for row in rows] == _bucket(NAMES).tolist()
