"""How an estimator runs."""

import json

import pytest

from frontends import tf


def test_defaults():
    config = tf.estimator.RunConfig()
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (600, None)
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 0, True)
    assert (config.num_worker_replicas, config.num_ps_replicas, config.master) == (1, 0, "")
    assert config.tf_random_seed is None
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        _ = config.unknown


def test_checkpoints_are_saved_by_steps_or_by_seconds():
    assert tf.estimator.RunConfig(save_checkpoints_steps=5).save_checkpoints_secs is None
    by_steps = tf.estimator.RunConfig().replace(save_checkpoints_steps=5)
    assert (by_steps.save_checkpoints_secs, by_steps.save_checkpoints_steps) == (None, 5)
    never = tf.estimator.RunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)
    assert (never.save_checkpoints_secs, never.save_checkpoints_steps) == (None, None)
    with pytest.raises(ValueError, match="cannot be both set"):
        tf.estimator.RunConfig(save_checkpoints_steps=5, save_checkpoints_secs=5)


def test_numbers_out_of_range_are_errors():
    with pytest.raises(ValueError, match="save_summary_steps should be > 0, but is 0"):
        tf.estimator.RunConfig(save_summary_steps=0)
    with pytest.raises(ValueError, match="keep_checkpoint_max should be >= 0, but is -1"):
        tf.estimator.RunConfig(keep_checkpoint_max=-1)


def test_a_copy_has_other_values():
    config = tf.estimator.RunConfig(model_dir="a")
    assert (config.replace(model_dir="b").model_dir, config.model_dir) == ("b", "a")
    with pytest.raises(ValueError, match="Replacing task_id is not supported"):
        config.replace(task_id=1)


def test_the_task_is_that_of_tf_config(monkeypatch):
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}
    found = []
    for job, index in (("chief", 0), ("worker", 1), ("ps", 0), ("evaluator", 0)):
        monkeypatch.setenv(
            "TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})
        )
        config = tf.estimator.RunConfig()
        found.append(
            (config.task_type, config.task_id, config.is_chief, config.global_id_in_cluster)
        )
        assert (config.num_worker_replicas, config.num_ps_replicas) == (3, 1)
    assert [one[:3] for one in found] == [
        ("chief", 0, True),
        ("worker", 1, False),
        ("ps", 0, False),
        ("evaluator", 0, False),
    ]
    assert [one[3] for one in found[:3]] == [0, 2, 3]


def test_without_a_chief_the_first_worker_is_it(monkeypatch):
    monkeypatch.setenv(
        "TF_CONFIG",
        json.dumps({"cluster": {"worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 0}}),
    )
    assert tf.estimator.RunConfig().is_chief


def test_two_folders_are_an_error(tmp_path):
    config = tf.estimator.RunConfig(model_dir="a")
    with pytest.raises(ValueError, match="set both in constructor and `RunConfig`"):
        config.with_folder("b")
    assert config.with_folder("a").model_dir == "a"


def test_strategies_may_come_with_a_cluster():
    strategy = tf.distribute.OneDeviceStrategy("cpu:0")
    given = tf.contrib.distribute.DistributeConfig(strategy, remote_cluster={"worker": ["a:1"]})
    config = tf.estimator.RunConfig(experimental_distribute=given)
    assert config.train_distribute is strategy
    assert config.eval_distribute is None
    assert config.remote_cluster == tf.train.ClusterSpec({"worker": ["a:1"]})
    assert tf.estimator.RunConfig().remote_cluster is None
    changed = config.replace(
        experimental_distribute=tf.contrib.distribute.DistributeConfig(None, strategy)
    )
    assert changed.eval_distribute is strategy
    other = tf.distribute.OneDeviceStrategy("cpu:1")
    with pytest.raises(ValueError, match="Either `train_distribute` or"):
        tf.estimator.RunConfig(train_distribute=other, experimental_distribute=given)
