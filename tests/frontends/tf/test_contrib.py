"""Strategies under their names of TensorFlow 1."""

from frontends import tf


def test_former_names():
    former = tf.contrib.distribute
    assert former.CollectiveAllReduceStrategy is tf.distribute.MultiWorkerMirroredStrategy
    assert former.MirroredStrategy is tf.distribute.MirroredStrategy
    assert "CollectiveAllReduceStrategy" in dir(former)
