"""Errors that the host finds while a program runs."""

import logging

import jax
import pytest

from frontends import tf
from frontends.tf import host_errors
from frontends.tf.ops.host_calls import tell_host


def fail(_):
    raise KeyError("found")


def test_the_call_of_the_program_raises():
    run = tf.function(lambda x: tell_host(fail, x) or x)
    for _ in range(2):
        with pytest.raises(KeyError, match="found"):
            run(tf.constant(1.0))
    assert tf.function(lambda x: x + 1)(tf.constant(1.0)) == 2


def test_an_error_that_nobody_waits_for_is_logged(caplog):
    program = jax.jit(lambda x: tell_host(fail, x) or x)
    with caplog.at_level(logging.ERROR, "tensorflow"):
        program(1.0)
        jax.effects_barrier()
    assert "found" in caplog.text
    with pytest.raises(KeyError, match="found"):
        host_errors.raise_found()
    host_errors.raise_found()
