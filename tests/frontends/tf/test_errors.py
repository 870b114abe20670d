"""`tf.errors`: a loop that reads to the end of its iterator, as scripts have it."""

import threading

import numpy as np
import pytest

from frontends import tf
from spmd.servers.remote.health import lost


def test_a_loop_to_the_end_of_an_iterator():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(3.0)).batch(2)
    iterator, seen = iter(strategy.experimental_distribute_dataset(dataset)), 0
    try:
        while True:
            iterator.get_next()
            seen += 1
    except tf.errors.OutOfRangeError:
        assert seen == 2


def test_invalid_arguments():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Variable(1.0).assign([1.0, 2.0])


def test_a_function_that_was_cancelled():
    strategy = tf.distribute.ParameterServerStrategy()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    go = threading.Event()

    def fail():
        go.wait(30)
        raise ValueError("first")

    coordinator.schedule(fail)
    waiting = coordinator.schedule(lambda: 1)
    go.set()
    with pytest.raises(ValueError, match="first"):
        coordinator.join()
    with pytest.raises(tf.errors.CancelledError, match="an earlier one failed"):
        waiting.fetch()


def test_a_lost_server_is_unavailable():
    with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError), match="ps 0 is gone"):
        raise lost("ps_0", "its process ended")
