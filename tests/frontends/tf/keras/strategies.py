"""Strategies that tests of `tf.keras` train under."""

import jax

from frontends import tf


def mirrored(count=2):
    """A strategy with a replica on each of the first simulated devices."""
    assert len(jax.devices("cpu")) >= count
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])
