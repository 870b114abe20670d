"""Characters; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_errors_say_what_does_not_fit():
    with pytest.raises(ValueError, match="replacement_char out of"):
        tf.strings.unicode_decode("a", "UTF-8", replacement_char=-5)
    with pytest.raises(ValueError, match="one dimension"):
        tf.strings.unicode_encode(97, "UTF-8")


def test_there_and_back():
    texts = ["aé", "", "日本"]
    codes = tf.strings.unicode_decode(texts, "UTF-8")
    assert tf.strings.unicode_encode(codes, "UTF-8").tolist() == [one.encode() for one in texts]
    assert tf.strings.unicode_script(codes).to_list() == [[25, 25], [], [17, 17]]
