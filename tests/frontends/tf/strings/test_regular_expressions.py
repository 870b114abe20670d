"""Regular expressions; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_a_full_match_takes_the_whole_text():
    assert tf.strings.regex_full_match(["a1", "a1b"], r"\w\d").tolist() == [True, False]
    assert tf.strings.regex_replace("a1b22", r"\d+", "#").numpy() == b"a#b#"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.strings.regex_replace("a", "(", "#"), "Invalid pattern"),
    ],
)
def test_a_pattern_that_is_none(call, message):
    with pytest.raises(ValueError, match=message):
        call()
