"""Values in a template; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_a_long_array_is_shortened():
    assert tf.strings.format("{}", [tf.range(10)]).numpy() == b"[0 1 2 ... 7 8 9]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.strings.format("{} {}", [1]), r"2 placeholder\(s\).* 1 tensor"),
    ],
)
def test_a_value_is_missing(call, message):
    with pytest.raises(ValueError, match=message):
        call()
