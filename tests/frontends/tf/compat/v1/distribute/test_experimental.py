"""TensorFlow 1's TPUStrategy, and the other names."""

import pytest

from frontends import tf


def test_names_are_those_of_version_2():
    experimental = tf.compat.v1.distribute.experimental
    assert (
        experimental.MultiWorkerMirroredStrategy
        is tf.distribute.experimental.MultiWorkerMirroredStrategy
    )
    assert {"TPUStrategy", "CentralStorageStrategy"} <= set(dir(experimental))
    with pytest.raises(AttributeError):
        _ = experimental.no_such_name


def test_steps_per_run(simulate):
    simulate("tpu:2")
    strategy = tf.compat.v1.distribute.experimental.TPUStrategy(steps_per_run=5)
    assert strategy.steps_per_run == 5
    assert strategy.num_replicas_in_sync == 2
    assert isinstance(strategy, tf.distribute.TPUStrategy)
