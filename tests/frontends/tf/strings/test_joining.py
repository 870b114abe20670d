"""Texts put together; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_a_single_text_goes_with_each():
    assert tf.strings.join([["a", "b"], "c"], "-").tolist() == [b"a-c", b"b-c"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.strings.join([["a", "b"], ["c"]]), "do not match"),
        (
            lambda: tf.strings.join(
                [tf.ragged.constant([["a"]]), tf.ragged.constant([["a", "b"]])]
            ),
            "have different rows",
        ),
        (
            lambda: tf.strings.unsorted_segment_join(["a", "b"], [0, 3], 2),
            r"from 0 to 1, got \[0, 3\]",
        ),
        (lambda: tf.strings.ngrams(["a", "b"], 0), "at least 1, got 0"),
    ],
)
def test_errors_say_what_does_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
