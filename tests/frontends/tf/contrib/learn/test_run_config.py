"""Configurations with the parameters of `tf.contrib.learn`."""

import pytest

from frontends import tf
from frontends.tf.contrib import learn


def test_steps_take_the_place_of_seconds(tmp_path):
    assert learn.RunConfig().save_checkpoints_secs == 600
    config = learn.RunConfig(master="", save_checkpoints_steps=5, tf_random_seed=3)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (5, None)
    estimator = tf.estimator.Estimator(lambda features: None, tmp_path, config)
    assert (estimator.config.tf_random_seed, estimator.model_dir) == (3, str(tmp_path))
    with pytest.raises(ValueError, match="cannot be both set"):
        learn.RunConfig(save_checkpoints_steps=5, save_checkpoints_secs=3)
