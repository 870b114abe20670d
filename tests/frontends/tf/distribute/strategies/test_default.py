"""The strategy where none was chosen: everything works, and none is in force."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from spmd.servers import ServerVariables, Store
from spmd.servers.remote import Receiver, Sender


def replica_context() -> Any:  # never None where the tests ask for it
    return tf.distribute.get_replica_context()


def places():
    return (
        tf.distribute.has_strategy(),
        tf.distribute.in_cross_replica_context(),
        tf.distribute.get_replica_context() is not None,
    )


def test_there_is_one():
    default = tf.distribute.get_strategy()
    assert default is tf.distribute.get_strategy()
    assert isinstance(default, tf.distribute.Strategy)
    assert not isinstance(default, tf.distribute.MirroredStrategy)
    assert default.num_replicas_in_sync == 1


def test_its_scope_is_no_scope():
    default = tf.distribute.get_strategy()
    with default.scope() as entered:
        assert entered is default
        assert places() == (False, False, True)


def test_its_run_is_in_a_replica_and_no_strategy_is_in_force():
    default, seen = tf.distribute.get_strategy(), []
    default.run(lambda: seen.append(places()))
    assert set(seen) == {(False, False, True)}


def test_another_scope_may_follow_inside_its_own():
    default, strategy = tf.distribute.get_strategy(), tf.distribute.OneDeviceStrategy("cpu:0")
    with default.scope(), strategy.scope():
        assert tf.distribute.get_strategy() is strategy
    with default.scope():
        assert float(strategy.reduce("SUM", strategy.run(lambda: 2.0), axis=None)) == 2.0


def test_its_scope_in_another_is_refused():
    default, strategy = tf.distribute.get_strategy(), tf.distribute.OneDeviceStrategy("cpu:0")
    with strategy.scope():
        with pytest.raises(RuntimeError), default.scope():
            pass
        assert tf.distribute.get_strategy() is strategy


def test_run_and_reduce():
    default = tf.distribute.get_strategy()
    result = default.run(lambda x, k: {"y": x * k}, args=(jnp.arange(3.0),), kwargs={"k": 2})
    total = default.reduce("SUM", result, axis=None)
    assert np.asarray(total["y"]).tolist() == [0.0, 2.0, 4.0]
    assert float(default.reduce("MEAN", result, axis=0)["y"]) == 2.0
    assert default.gather(result, axis=0)["y"].tolist() == [0.0, 2.0, 4.0]


def test_reduce_of_plain_values_gives_them_back():
    default = tf.distribute.get_strategy()
    assert default.reduce("SUM", 3.0, axis=None) == 3.0
    assert default.reduce("MEAN", 3, axis=None) == 3
    assert float(default.reduce("SUM", np.array([1.0, 2.0, 6.0]), axis=0)) == 9.0
    assert float(default.reduce("MEAN", jnp.array([1.0, 2.0, 6.0]), axis=0)) == 3.0


def test_datasets_pass_through_it():
    default = tf.distribute.get_strategy()
    batches = default.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2))
    rows = [[value.tolist() for value in batch.values] for batch in batches]
    assert rows == [[[0, 1]], [[2, 3]], [[4]]]


def test_a_loop_without_a_strategy_is_the_same_script():
    """TensorFlow's advice: write the loop for `get_strategy()`, whatever that is."""

    def train(strategy):
        @tf.function
        def step(batch):
            return strategy.reduce("SUM", strategy.run(lambda x: x.sum(), args=(batch,)), axis=None)

        dataset = tf.data.Dataset.from_tensor_slices(np.ones((6, 2), np.float32)).batch(3)
        return [float(step(b)) for b in strategy.experimental_distribute_dataset(dataset)]

    assert train(tf.distribute.get_strategy()) == [6.0, 6.0]
    with tf.distribute.OneDeviceStrategy("cpu:0").scope() as strategy:
        assert train(tf.distribute.get_strategy()) == [6.0, 6.0]
        assert tf.distribute.get_strategy() is strategy


def test_replica_context_without_a_strategy():
    context = replica_context()
    assert context.num_replicas_in_sync == 1
    assert int(context.replica_id_in_sync_group) == 0
    assert float(context.all_reduce("MEAN", 4.0)) == 4.0
    assert context.all_gather(jnp.arange(2), axis=0).tolist() == [0, 1]
    with pytest.raises(ValueError, match="Unknown reduction"):
        context.all_reduce("MAX", 4.0)


def test_merge_call_without_a_strategy():
    context, seen = replica_context(), []

    def merge(strategy, x, k):
        seen.append((tf.distribute.in_cross_replica_context(), tf.distribute.get_replica_context()))
        return strategy, x + k

    strategy, total = context.merge_call(merge, args=(1,), kwargs={"k": 2})
    assert strategy is tf.distribute.get_strategy()
    assert total == 3
    assert seen == [(True, None)]
    assert not tf.distribute.in_cross_replica_context()


def test_a_worker_has_its_own():
    strategy, variables = tf.distribute.get_strategy(), ServerVariables([Store()])
    sender, receiver = Sender(strategy.mesh, variables), Receiver(strategy.mesh, variables)
    package = sender.pack([lambda: strategy], sender.join())
    assert receiver.unpack(package)[0]() is strategy
