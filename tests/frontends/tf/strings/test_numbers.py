"""Numbers from texts, and back; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_numbers_come_back():
    assert tf.strings.to_number(tf.strings.as_string([1.5, -2.0])).tolist() == [1.5, -2.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tf.strings.to_number(["1", "1x"], tf.int32),
            r"tf\.strings\.to_number: .*'1x' is no int32",
        ),
        (
            lambda: tf.strings.as_string(1.0, scientific=True, shortest=True),
            "both scientific and shortest",
        ),
    ],
)
def test_errors_say_what_does_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
