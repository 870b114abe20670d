"""Inputs that are texts, of which programs take fingerprints."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.feature_column import Texts
from frontends.tf.saved_model.received import array_of, described, specs_of
from spmd.export import ArraySpec

PROGRAM = (ArraySpec("city", (None, 2), "uint32"), ArraySpec("x", (None, 2), "float32"))


def test_a_signature_takes_texts():
    texts = described({"city": ((None,), "string"), "x": ((None, 2), "float32")})
    assert texts == ["city"]
    city, x = specs_of(PROGRAM, texts)
    assert city == ArraySpec("city", (None,), "string")
    assert x is PROGRAM[1]
    words = array_of(city, ["a", "b"])
    np.testing.assert_array_equal(words, Texts.of(["a", "b"]).words)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (tf.ones([2]), TypeError, "got elements of the type float32"),
        ([["a"]], ValueError, r"got an array of shape \(1, 1\)"),
    ],
)
def test_texts_are_checked(value, error, words):
    with pytest.raises(error, match=words):
        array_of(ArraySpec("city", (None,), "string"), value)
