"""`Dataset.ignore_errors` and `rejection_resample`: what the recorded cases (tests/golden, records) leave out."""

import pytest

from frontends import tf
from frontends.tf.data import Dataset


def test_errors_of_parsers_are_left_out():
    lines = Dataset.from_tensor_slices(["1,2", "3", "4,5"])
    numbers = lines.map(lambda line: tf.io.decode_csv(line, [[0], [0]])).ignore_errors()
    assert [(int(a), int(b)) for a, b in numbers] == [(1, 2), (4, 5)]
    assert [batch[0].tolist() for batch in numbers.batch(2)] == [[1, 4]]


def test_distributions_that_do_not_fit():
    numbers = Dataset.range(4)
    with pytest.raises(ValueError, match="target_dist has 2 classes"):
        numbers.rejection_resample(lambda x: x, [0.5, 0.5], [1.0])
    with pytest.raises(ValueError, match="must be a list of numbers"):
        numbers.rejection_resample(lambda x: x, [])
    with pytest.raises(ValueError, match="class_func returned 2"):
        list(numbers.rejection_resample(lambda x: x, [0.5, 0.5]))
