"""Buckets of texts; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_the_key_changes_the_buckets():
    texts = [str(number) for number in range(100)]
    first, second = (tf.strings.to_hash_bucket_strong(texts, 1000, [key, 2]) for key in (1, 3))
    assert (first != second).any()
    assert 0 <= first.min() <= first.max() < 1000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.strings.to_hash_bucket_fast("a", 0), "at least 1, got 0"),
        (lambda: tf.strings.to_hash_bucket_strong("a", 10, [1]), "2 elements, got 1"),
    ],
)
def test_errors_say_what_does_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
