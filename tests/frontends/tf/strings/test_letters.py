"""Letters and parts of texts; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_letters_may_take_several_bytes():
    text = "héllo"
    assert int(tf.strings.length(text)) == 6
    assert int(tf.strings.length(text, unit="UTF8_CHAR")) == 5
    assert tf.strings.substr(text, 1, 1, unit="UTF8_CHAR").numpy() == "é".encode()
    assert tf.strings.upper(text, encoding="utf-8").numpy() == "HÉLLO".encode()
    assert tf.strings.upper(text).numpy() == b"H\xc3\xa9LLO"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.strings.lower("A", encoding="latin"), "encoding.*latin"),
        (lambda: tf.strings.length("a", unit="WORD"), r"BYTE, UTF8_CHAR, got 'WORD'"),
        (lambda: tf.strings.substr(["abc"], [0], 1), "same shape"),
        (lambda: tf.strings.substr("ab", 5, 1), r"pos 5 out of range for string b'ab'"),
    ],
)
def test_errors_say_what_does_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
