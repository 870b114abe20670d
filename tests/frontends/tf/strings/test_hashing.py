"""Buckets of texts; tests/golden compares results with TensorFlow's."""

import jax
import pytest

from frontends import tf
from frontends.tf.feature_column import Texts


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


def test_a_program_gives_texts_to_the_same_buckets():
    words = ["Ada", "", "Björn"]
    texts = Texts.of(words)
    found = jax.jit(lambda x: tf.strings.to_hash_bucket_fast(x, 1000))(texts)
    assert found.tolist() == tf.strings.to_hash_bucket_fast(words, 1000).tolist()
    with pytest.raises(ValueError, match="at most 2147483647 buckets"):
        tf.strings.to_hash_bucket_fast(texts, 2**31)
