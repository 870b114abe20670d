"""Devices, and first names."""

from frontends import tf


def test_scripts_count_devices():
    devices = tf.contrib.eager.list_devices()
    assert devices == [one.name for one in tf.config.list_logical_devices()]
    assert [name for name in devices if "/device:GPU" in name] == []
    assert tf.contrib.eager.num_gpus() == 0


def test_first_names_are_those_of_tf():
    assert tf.contrib.eager.GradientTape is tf.GradientTape
    assert tf.contrib.eager.executing_eagerly()
