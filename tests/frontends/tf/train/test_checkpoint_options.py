"""The options of TensorFlow's checkpoints."""

import pytest

from frontends import tf


def test_both_spellings_mean_asynchronous():
    options = tf.train.CheckpointOptions
    assert options(enable_async=True).is_async
    assert options(experimental_enable_async_checkpoint=True).is_async
    assert not options(experimental_io_device="/job:localhost").is_async


def test_slots_cannot_be_skipped():
    with pytest.raises(ValueError, match="Leave the optimizer out"):
        tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
