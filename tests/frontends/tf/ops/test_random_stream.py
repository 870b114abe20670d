"""Draws of `tf.random` inside of JAX's transformations."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.ops.random_stream import STREAM, drawing_inside, make_stream, noting_draws
from spmd.errors import StateError


def noisy(x):
    def loss(x):
        return (x * tf.random.normal([2]) + tf.random.uniform([2], seed=3)).sum()

    return jax.grad(loss)(x)


def test_a_gradient_in_a_step_may_draw():
    step = tf.function(drawing_inside(noisy))
    tf.random.set_seed(1)
    found = [np.asarray(step(tf.ones(2))).tolist() for _ in range(3)]
    assert len({str(each) for each in found}) == 3, "each step draws anew"
    assert make_stream() is STREAM["tf.random"]
    assert int(STREAM["tf.random"].value[2]) == 3, "the stream advances once for each"
    tf.random.set_seed(1)
    assert [np.asarray(step(tf.ones(2))).tolist() for _ in range(3)] == found
    assert step.experimental_get_tracing_count() <= 2


def test_a_function_that_draws_nothing_leaves_the_stream():
    tf.random.set_seed(1)
    make_stream()
    tf.function(drawing_inside(lambda x: x + 1))(tf.ones(2))
    assert int(STREAM["tf.random"].value[2]) == 0


def test_elsewhere_a_draw_inside_of_a_gradient_is_an_error():
    tf.random.set_seed(1)
    with pytest.raises(StateError, match="transformation"):
        tf.function(noisy)(tf.ones(2))


def test_replicas_draw_for_themselves():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    first, second = strategy.run(drawing_inside(noisy), args=(tf.ones(2),)).values
    assert not np.array_equal(first, second)


def test_draws_are_noted():
    with noting_draws() as drawn:
        assert drawn == []
        jax.block_until_ready(tf.random.normal([2]))
    assert drawn == [make_stream()]
    tf.random.normal([2])
    assert len(drawn) == 1
