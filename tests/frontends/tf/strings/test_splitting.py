"""Texts in parts; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_spaces_count_as_one_and_separators_do_not():
    assert tf.strings.split("a  b").tolist() == [b"a", b"b"]
    assert tf.strings.split("a,,b", ",").tolist() == [b"a", b"", b"b"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.strings.split("a,b", [",", ";"]), "must be scalar"),
    ],
)
def test_one_separator(call, message):
    with pytest.raises(ValueError, match=message):
        call()
