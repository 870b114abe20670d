"""Configurations of TPUs."""

import pytest

from frontends import tf

tpu = tf.estimator.tpu


def test_replacing_keeps_the_tpu():
    config = tpu.RunConfig(tpu.TPUConfig(iterations_per_loop=7), model_dir="a")
    new = config.replace(model_dir="b", tpu_config=tpu.TPUConfig(num_shards=2))
    assert config.replace(model_dir="b").tpu_config.iterations_per_loop == 7
    assert (new.model_dir, new.tpu_config.num_shards, new.cluster) == ("b", 2, None)
    assert config.tpu_config.num_shards is None


def test_what_is_out_of_range():
    with pytest.raises(ValueError, match="master and cluster"):
        tpu.RunConfig(master="", cluster=object())
    with pytest.raises(ValueError, match="num_shards"):
        tpu.TPUConfig(num_shards=0)
    with pytest.raises(ValueError, match="must be one of"):
        tpu.TPUConfig(num_cores_per_replica=3)
    with pytest.raises(NotImplementedError, match="num_replicas=4"):
        tpu.TPUConfig(num_cores_per_replica=2)
