"""What a replica asks of its context: combining values, merging, and no use of a context that is over."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends import tf
from tests.frontends.tf.distribute.replicas import (
    in_both_ways,
    lists,
    mirrored,
    plain,
    replica_context,
)


def test_replica_context_that_outlives_its_replica():
    """TensorFlow refuses one: what it would say of other replicas is wrong by then."""
    strategy, kept = mirrored(2), []

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
    strategy, total = mirrored(2), spmd.Variable(jnp.zeros(()), kind="sum", name="total")

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


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_replica_context(replicas):
    strategy = mirrored(replicas)

    def replica():
        context = replica_context()
        assert context.strategy is strategy
        assert context.num_replicas_in_sync == replicas
        assert context.replica_id_in_sync_group.dtype == jnp.int32
        return context.replica_id_in_sync_group

    for result in in_both_ways(lambda: strategy.run(replica)):
        assert lists(result) == list(range(replicas))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("SUM", {"a": 3.0, "b": [[1.0, 4.0], 0.5], "c": (5,)}),
        ("MEAN", {"a": 1.5, "b": [[0.5, 2.0], 0.25], "c": (2.5,)}),
        (tf.distribute.ReduceOp.SUM, {"a": 3.0, "b": [[1.0, 4.0], 0.5], "c": (5,)}),
        ("mean", {"a": 1.5, "b": [[0.5, 2.0], 0.25], "c": (2.5,)}),
    ],
)
def test_all_reduce(op, expected):
    strategy = mirrored()

    def replica():
        context = replica_context()
        r = context.replica_id_in_sync_group.astype(jnp.float32)
        whole = 3 * context.replica_id_in_sync_group + 1
        value = {"a": r + 1, "b": [jnp.stack([r, jnp.float32(2)]), r / 2], "c": (whole,)}
        return context.all_reduce(op, value)

    for result in in_both_ways(lambda: strategy.run(replica)):
        both = strategy.experimental_local_results(result)
        assert plain(both) == (expected, expected)


@pytest.mark.parametrize("value", [2.0, 3, np.float32(2), True])
def test_all_reduce_of_python_numbers(value):
    strategy = mirrored()
    result = strategy.run(lambda: replica_context().all_reduce("SUM", value))
    assert lists(result) == [2 * value, 2 * value]


def test_all_reduce_by_what_is_no_reduction():
    with pytest.raises(ValueError, match="Unknown reduction 'foo'"):
        mirrored().run(lambda: replica_context().all_reduce("foo", 1.0))


@pytest.mark.parametrize(("op", "expected"), [("SUM", [3.0, 3.0]), ("MEAN", [1.5, 1.5])])
def test_gradient_of_all_reduce(op, expected):
    """d(sum(all_reduce(x) * w)) / dx with w = replica + 1, as TensorFlow has it."""
    strategy = mirrored()

    def replica():
        context = replica_context()
        w = context.replica_id_in_sync_group + 1.0
        return jax.grad(lambda x: (context.all_reduce(op, x) * w).sum())(jnp.ones(2))

    assert lists(strategy.run(replica)) == [expected, expected]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_all_gather(axis):
    strategy = mirrored()

    def replica():
        context = replica_context()
        r = context.replica_id_in_sync_group.astype(jnp.float32)
        return context.all_gather({"x": jnp.array([[r, r + 0.5]])}, axis)

    expected = [[0.0, 0.5], [1.0, 1.5]] if axis == 0 else [[0.0, 0.5, 1.0, 1.5]]
    for result in in_both_ways(lambda: strategy.run(replica)):
        assert lists(result) == {"x": [expected, expected]}


def test_all_gather_of_a_scalar():
    with pytest.raises(ValueError, match="axis"):
        mirrored().run(lambda: replica_context().all_gather(1.0, axis=0))


def test_merge_call_reduces():
    strategy = mirrored()

    def merge(merging, x, *, scale):
        assert merging is strategy
        assert isinstance(scale, str)
        return merging.reduce("SUM", x, axis=None)

    def replica():
        context = replica_context()
        x = context.replica_id_in_sync_group + 1.0
        return context.merge_call(merge, args=(x,), kwargs={"scale": "k"})

    for result in in_both_ways(lambda: strategy.run(replica)):
        assert lists(result) == [3.0, 3.0]


def test_merge_call_gives_each_replica_its_part():
    strategy = mirrored()

    def replica():
        context = replica_context()
        x = context.replica_id_in_sync_group + 1.0
        same = context.merge_call(lambda _, value: value, args=({"x": x},))
        number = context.merge_call(lambda _: 42)
        first = context.merge_call(lambda s, x: s.reduce("MEAN", x, axis=None), args=(x,))
        return same, number, first + context.replica_id_in_sync_group

    for result in in_both_ways(lambda: strategy.run(replica)):
        assert lists(result) == ({"x": [1.0, 2.0]}, [42, 42], [1.5, 2.5])


@pytest.mark.parametrize("name", ["strategy", "num_replicas_in_sync"])
def test_what_a_context_tells_is_read_only(name):
    with pytest.raises(AttributeError):
        setattr(tf.distribute.get_replica_context(), name, None)


def test_one_replica_keeps_integers_and_scalars():
    strategy = mirrored(1)

    def replica():
        context = replica_context()
        return context.all_reduce("MEAN", tf.constant(3)), context.all_gather(tf.constant(2.0), 0)

    mean, whole = strategy.run(replica)
    assert (mean.dtype, mean.numpy()) == (np.int32, 3)
    assert (whole.shape, whole.numpy()) == ((), 2.0)


def test_a_mean_of_integers_over_replicas_is_a_float():
    strategy = mirrored(2)
    mean = strategy.run(
        lambda: replica_context().all_reduce("MEAN", replica_context().replica_id_in_sync_group + 1)
    )
    assert [one.tolist() for one in mean.values] == [1.5, 1.5]
    with pytest.raises(ValueError, match="scalar"):
        strategy.run(lambda: replica_context().all_gather(tf.constant(2.0), 0))


def test_the_only_replica_knows_its_index_while_it_is_traced():
    strategy, names = mirrored(1), ["first", "second"]

    def replica():
        index = replica_context().replica_id_in_sync_group
        return {names[index]: tf.ones([int(index) + 2])}

    for result in (strategy.run(replica), tf.function(lambda: strategy.run(replica))()):
        assert result["first"].numpy().tolist() == [1.0, 1.0]
