"""Mean losses of evaluations."""

import numpy as np

from frontends.tf.estimator.running_loss import RunningLoss


class Step:
    """What a step gives, which tells when it was read."""

    def __init__(self, read, number):
        self.read, self.number = read, number

    def __array__(self, dtype=None, copy=None):
        self.read.append(self.number)
        return np.float32([self.number, 1.0])


def test_it_keeps_few_steps():
    losses, read = RunningLoss(), []
    for number in range(40):
        losses.add(Step(read, number))
    assert read == list(range(24))
    assert losses.mean() == np.mean(range(40))
    assert losses.mean().dtype == np.float32


def test_batches_count_and_none_are_zero():
    losses = RunningLoss()
    assert losses.mean() == 0
    for sums in ([3.0, 2.0], [0.0, 0.0], [1.0, 2.0]):
        losses.add(np.float32(sums))
    assert losses.mean() == 1
