"""Strategies under their names of TensorFlow 1."""

import json

import pytest

from frontends import tf

former = tf.contrib.distribute


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)


def test_former_names():
    assert issubclass(former.CollectiveAllReduceStrategy, tf.distribute.MultiWorkerMirroredStrategy)
    assert issubclass(former.MirroredStrategy, tf.distribute.MirroredStrategy)
    assert former.OneDeviceStrategy is tf.distribute.OneDeviceStrategy
    assert {"CollectiveAllReduceStrategy", "DistributeConfig"} <= {*dir(former)}


def test_a_strategy_takes_so_many_devices():
    assert former.MirroredStrategy(num_gpus=3).num_replicas_in_sync == 3
    assert former.MirroredStrategy(num_gpus_per_worker=2).num_replicas_in_sync == 2
    assert former.MirroredStrategy(["cpu:1"]).num_replicas_in_sync == 1
    every = former.MirroredStrategy(cross_tower_ops=tf.distribute.NcclAllReduce())
    assert every.num_replicas_in_sync == len(tf.config.list_logical_devices())
    assert former.CollectiveAllReduceStrategy(num_gpus_per_worker=2).num_replicas_in_sync == 2
    assert former.CollectiveAllReduceStrategy().num_replicas_in_sync == every.num_replicas_in_sync


def test_one_class_for_all_ways_to_reduce():
    make = former.AllReduceCrossDeviceOps
    assert make() == tf.distribute.NcclAllReduce(1)
    assert make("hierarchical_copy", num_packs=2) == tf.distribute.HierarchicalCopyAllReduce(2)
    with pytest.raises(ValueError, match=r"got 'ring'. Leave cross_device_ops out"):
        make("ring")
    assert former.MirroredStrategy(num_gpus=2, cross_device_ops=make()).num_replicas_in_sync == 2


def test_a_tpu_is_started_by_its_former_name():
    assert former.initialize_tpu_system is tf.tpu.experimental.initialize_tpu_system


def test_more_devices_than_there_are_take_all(caplog):
    assert former.CollectiveAllReduceStrategy(99).num_replicas_in_sync < 99
    assert former.MirroredStrategy(num_gpus=99).num_replicas_in_sync < 99
    with pytest.raises(ValueError, match="one of `devices` and `num_gpus`"):
        former.MirroredStrategy(["cpu:0"], num_gpus=1)


def test_a_mirrored_strategy_of_a_cluster_is_of_all_workers(monkeypatch):
    made = []
    monkeypatch.setattr(former, "CollectiveAllReduceStrategy", made.append)
    config = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    former.MirroredStrategy(num_gpus=2)
    assert made == [2]


def test_a_server_is_that_of_the_task(monkeypatch):
    config = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    server = former.run_standard_tensorflow_server()
    assert (server.job_name, server.task_index, server.target) == ("worker", 1, "grpc://b:1")
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": config["cluster"]}))
    with pytest.raises(ValueError, match="it names none"):
        former.run_standard_tensorflow_server()
    monkeypatch.delenv("TF_CONFIG")
    with pytest.raises(ValueError, match="it names no cluster"):
        former.run_standard_tensorflow_server()


def test_parameter_servers_on_one_machine_use_all_devices(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.contrib.distribute.ParameterServerStrategy(num_gpus_per_worker=2)
    assert isinstance(strategy, tf.distribute.ParameterServerStrategy)
    assert strategy.num_replicas_in_sync == len(tf.config.list_logical_devices())
