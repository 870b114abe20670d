"""What a replica asks of its context: combining values, merging, and no use of a context that is over."""

from typing import Any

import jax.numpy as jnp
import pytest

import spmd
from frontends import tf


def replica_context() -> Any:  # never None where the tests ask for it
    return tf.distribute.get_replica_context()


def two():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def test_replica_context_that_outlives_its_replica():
    """TensorFlow refuses one: what it would say of other replicas is wrong by then."""
    strategy, kept = two(), []

    def replica():
        kept.append(tf.distribute.get_replica_context())
        return kept[-1].all_reduce("SUM", 1.0)

    assert [float(value) for value in strategy.run(replica).values] == [2.0, 2.0]
    with pytest.raises(RuntimeError):
        kept[-1].all_reduce("SUM", 1.0)
    with pytest.raises(RuntimeError):
        kept[-1].merge_call(lambda _: 1)


def test_what_a_merge_call_runs_counts_once():
    # The state is prepared for the replicas already, and must not be so a second time.
    strategy, total = two(), spmd.Variable(jnp.zeros(()), kind="sum", name="total")

    def add():
        total.value = total.value + 1.0

    def replica():
        add()
        replica_context().merge_call(lambda merging: merging.run(add))

    strategy.run(replica)
    assert float(total.value) == 4.0


def test_replicas_combine_the_values_of_variables():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        variable = tf.Variable(
            [1.0],
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def replica():
        context = tf.distribute.get_replica_context()
        return context.all_reduce("SUM", {"v": variable}), context.all_gather(variable, axis=0)

    total, all_values = strategy.run(replica)
    assert [value.tolist() for value in total["v"].values] == [[2], [2]]
    assert all_values.values[0].tolist() == [1, 1]
