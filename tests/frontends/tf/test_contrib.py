"""Strategies under their names of TensorFlow 1."""

from frontends import tf


def test_former_names():
    former = tf.contrib.distribute
    assert former.CollectiveAllReduceStrategy is tf.distribute.MultiWorkerMirroredStrategy
    assert former.MirroredStrategy is tf.distribute.MirroredStrategy
    assert "CollectiveAllReduceStrategy" in dir(former)


def test_parameter_servers_on_one_machine_use_all_devices(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.contrib.distribute.ParameterServerStrategy(num_gpus_per_worker=2)
    assert isinstance(strategy, tf.distribute.ParameterServerStrategy)
    assert strategy.num_replicas_in_sync == len(tf.config.list_logical_devices())
