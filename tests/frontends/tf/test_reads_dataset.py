"""Which functions can reach a dataset: through arguments, closures, globals, methods and other functions."""

import pytest

from frontends import tf
from frontends.tf.reads_dataset import reads_dataset

DATASET = tf.data.Dataset.range(3)


class Trainer:
    def __init__(self, data):
        self.data = data

    def epoch(self):
        return list(self.data)


def _from_global():
    return list(DATASET)


def _from_closure(data=DATASET):
    captured = data
    return lambda: list(captured)


@pytest.mark.parametrize(
    "function",
    [
        _from_global,
        _from_closure(),
        Trainer(DATASET).epoch,
        Trainer(iter(DATASET)).epoch,
        tf.function(_from_global),
        lambda: _from_global(),
    ],
)
def test_a_dataset_is_found(function):
    assert reads_dataset(function, (), {})


def test_a_dataset_among_the_arguments_is_found():
    assert reads_dataset(print, ({"rows": DATASET},), {})
    assert reads_dataset(print, (), {"rows": iter(DATASET)})


def test_functions_without_data_are_not_searched_for_ever():
    def itself():
        return itself()

    assert not reads_dataset(itself, (1.0, [2.0]), {})
    assert not reads_dataset(Trainer([1, 2]).epoch, (), {})
