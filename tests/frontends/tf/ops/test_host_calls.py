"""Calls from a program to the host."""

import jax
import jax.numpy as jnp

from frontends import tf
from frontends.tf.ops.host_calls import ask_host, tell_host


def test_in_a_program_of_jax_alone():
    told = []

    @jax.jit
    def program(x):
        tell_host(told.append, x)
        (y,) = ask_host(
            lambda x: [x + 1], [jax.ShapeDtypeStruct((), jnp.float32)], x, stateful=True
        )
        return y

    assert program(jnp.float32(1)) == 2
    jax.effects_barrier()
    assert told == [1]


def test_each_replica_calls():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    told = []

    def step():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        tell_host(lambda index: told.append(int(index)), index)
        return index

    strategy.run(step)
    assert sorted(told) == [0, 1]
