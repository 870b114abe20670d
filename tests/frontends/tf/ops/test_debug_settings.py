"""Settings of `tf.debugging`, which are those of JAX."""

import logging

import jax
import numpy as np
import pytest

from frontends import tf


def test_every_operation_can_be_checked():
    ratio = tf.function(lambda x: x / x)
    for _ in range(2):  # what JAX has a fast path for must be checked, too
        assert np.isnan(tf.math.log(tf.constant(-1.0)))
        assert ratio(tf.constant(2.0)) == 1
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(FloatingPointError, match="nan"):
            tf.math.log(tf.constant(-1.0))
        with pytest.raises(Exception, match="nan"):
            ratio(tf.constant(0.0)).numpy()
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isnan(tf.math.log(tf.constant(-1.0)))


def test_traceback_filtering():
    before = jax.config.jax_traceback_filtering
    try:
        tf.debugging.disable_traceback_filtering()
        assert not tf.debugging.is_traceback_filtering_enabled()
        tf.debugging.enable_traceback_filtering()
        assert tf.debugging.is_traceback_filtering_enabled()
    finally:
        jax.config.update("jax_traceback_filtering", before)


def test_placements_are_logged():
    assert not tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(True)
    try:
        assert tf.debugging.get_log_device_placement()
        assert logging.getLogger("spmd.placement").isEnabledFor(logging.INFO)
    finally:
        tf.debugging.set_log_device_placement(False)
    assert not tf.debugging.get_log_device_placement()
