"""Inputs that are texts or serialized examples, and outputs that are texts."""

import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.feature_column import Texts
from frontends.tf.saved_model.received import Received, described
from spmd.export import ArraySpec

CITY, X = ArraySpec("city", (None, 2), "uint32"), ArraySpec("x", (None, 2), "float32")
OUTPUTS = (ArraySpec("class", (None,), "int32"),)


def received(*inputs, texts=(), examples=None, names=None, given_back=()):
    notes = json.loads(json.dumps(described(texts, examples or {}, names or {}, given_back)))
    return Received(SimpleNamespace(inputs=inputs, outputs=OUTPUTS), notes)


def example(**values):
    features = {}
    for key, value in values.items():
        kind = "Bytes" if isinstance(value[0], bytes) else "Float"
        made = getattr(tf.train, f"{kind}List")(value=value)
        features[key] = tf.train.Feature(**{f"{kind.lower()}_list": made})
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def test_a_signature_takes_texts():
    found = received(CITY, X, texts=["city"])
    assert found.specs == [ArraySpec("city", (None,), "string"), X]
    words, x = found.arrays([["a", "b"], np.ones((2, 2), np.float32)])
    np.testing.assert_array_equal(words, Texts.of(["a", "b"]).words)
    assert x.shape == (2, 2)


def test_a_signature_takes_examples():
    spec = {
        "x": tf.io.FixedLenFeature([2], tf.float32, default_value=[1.0, 2.0]),
        "words": tf.io.VarLenFeature(tf.string),
    }
    found = received(
        ArraySpec("e/x", (None, 2), "float32"),
        ArraySpec("e/words", (None, None, 2), "uint32"),
        texts=["e/words"],
        examples={"e": spec},
    )
    assert found.specs == [ArraySpec("e", (None,), "string")]
    x, words = found.arrays([[example(x=[3.0, 4.0], words=[b"a"]), example(words=[b"b", b"c"])]])
    np.testing.assert_array_equal(x, [[3, 4], [1, 2]])
    np.testing.assert_array_equal(words, Texts.of([["a", ""], ["b", "c"]]).words)
    with pytest.raises(TypeError, match="takes serialized examples"):
        found.arrays([np.ones(2, np.float32)])


def test_positions_become_names():
    found = received(X, names={"class": ["no", "yes"]})
    assert found.outputs == [ArraySpec("class", (None,), "string")]
    assert found.given("class", np.array([1, 0]), [X]).tolist() == [b"yes", b"no"]
    assert found.given("other", 3, [X]) == 3


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (tf.ones([2]), TypeError, "got elements of the type float32"),
        ([["a"]], ValueError, r"got an array of shape \(1, 1\)"),
    ],
)
def test_texts_are_checked(value, error, words):
    with pytest.raises(error, match=words):
        received(CITY, texts=["city"]).arrays([value])


def test_texts_that_were_given_come_back():
    found = received(CITY, X, texts=["city"], given_back=["class"])
    cities = ["Bern", "Rome"]
    assert found.outputs == [ArraySpec("class", (), "string")]
    given = found.given("class", Texts.of(cities[::-1]).words, [cities, None])
    assert given.tolist() == [b"Rome", b"Bern"]
    in_step = jax.eval_shape(lambda x: found.given("class", x, [cities, None]), Texts.of("a").words)
    assert isinstance(in_step, Texts)


def test_texts_of_examples_come_back():
    spec = {"city": tf.io.FixedLenFeature([], tf.string)}
    city = ArraySpec("e/city", (None, 2), "uint32")
    found = received(city, texts=["e/city"], examples={"e": spec}, given_back=["class"])
    inputs = [[example(city=[b"Bern"]), example(city=[b"Rome"])]]
    (words,) = found.arrays(inputs)
    assert found.given("class", words, inputs).tolist() == [b"Bern", b"Rome"]
