"""Calls whose arrays and variables are arguments and results."""

import jax.numpy as jnp
import numpy as np

from frontends import tf
from frontends.tf.ops.explicit import ExplicitCall, trainable


def test_reads_and_writes_become_arguments_and_results():
    read, written, idle = tf.Variable(2.0), tf.Variable(0), tf.Variable(9.0)

    def function(x, *, flag):
        assert flag is True
        written.assign_add(1)
        return x * read if flag else idle

    call = ExplicitCall(function, (np.float32(3),), {"flag": True})
    assert call.positions == [0]
    pairs = zip(call.variables, call.held, strict=True)
    held = [jnp.float32(10) if variable is read else old for variable, old in pairs]
    found, new = call(call.arrays, held, lambda y: y + 1)
    assert found == 31
    assert [call.variables[i] is read for i in sorted(call.used)].count(True) == 1
    assert [call.variables[i] is written for i in call.written] == [True]
    assert (read.numpy(), written.numpy()) == (2, 0)
    call.assign(new)
    assert written.numpy() == 1


def test_positions_are_those_that_may_have_a_gradient():
    variable = tf.Variable(1.0)
    call = ExplicitCall(abs, ("text", 1, np.ones(2), variable, object()), {})
    assert call.positions == [None, 0, variable]


def test_trainable():
    assert trainable(tf.Variable(1.0))
    assert not trainable(tf.Variable(1))
    assert not trainable(tf.Variable(1.0, trainable=False))
