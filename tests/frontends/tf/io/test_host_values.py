"""Texts as arguments of functions of the host."""

import numpy as np
import pytest

from frontends.tf.io.host_values import in_shape, texts_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"a\0", ([b"a\0"], ())),
        ("é", (["é".encode()], ())),
        (np.str_("a"), ([b"a"], ())),
        (["a", b"b"], ([b"a", b"b"], (2,))),
        (np.array([["a"], ["b"]]), ([b"a", b"b"], (2, 1))),
        (np.array(b"a", object), ([b"a"], ())),
        (np.array([], "S1"), ([], (0,))),
    ],
)
def test_texts(value, expected):
    assert texts_of(value, "f: x") == expected


@pytest.mark.parametrize("value", [1.0, np.zeros(2), [b"a", 1], np.zeros(0), None])
def test_what_is_no_text(value):
    with pytest.raises(ValueError, match="f: x must be text"):
        texts_of(value, "f: x")


def test_shapes():
    assert in_shape([b"a"], ()).numpy() == b"a"
    assert in_shape([b"a", b"b"], (2, 1)).tolist() == [[b"a"], [b"b"]]
