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
