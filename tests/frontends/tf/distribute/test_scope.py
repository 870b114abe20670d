"""Where the running code stands, asked from every place that a script can ask from.

What OUTSIDE, SCOPE and REPLICA expect was recorded from TensorFlow 2.21 with two logical CPUs.
"""

import threading
from typing import Any

import pytest

from frontends import tf

OUTSIDE = {"has": False, "cross": False, "replica": True, "ours": False, "replicas": 1}
SCOPE = {"has": True, "cross": True, "replica": False, "ours": True, "replicas": 2}
REPLICA = {"has": True, "cross": False, "replica": True, "ours": True, "replicas": 2}


def replica_context() -> Any:  # never None where the tests ask for it
    return tf.distribute.get_replica_context()


def two():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def look(strategy):
    context = tf.distribute.get_replica_context()
    current = tf.distribute.get_strategy()
    assert context is None or context.strategy is current
    return {
        "has": tf.distribute.has_strategy(),
        "cross": tf.distribute.in_cross_replica_context(),
        "replica": context is not None,
        "ours": current is strategy,
        "replicas": current.num_replicas_in_sync,
    }


def test_outside_and_in_scope():
    strategy = two()
    assert look(strategy) == OUTSIDE
    with strategy.scope() as entered:
        assert entered is strategy
        assert look(strategy) == SCOPE
    assert look(strategy) == OUTSIDE


def test_same_strategy_nested():
    strategy = two()
    with strategy.scope(), strategy.scope():
        assert look(strategy) == SCOPE
    with strategy.scope():
        with strategy.scope():
            pass
        assert look(strategy) == SCOPE
    assert look(strategy) == OUTSIDE


@pytest.mark.parametrize("in_scope", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_in_run_and_in_merge_call(in_scope, compiled):
    strategy = two()
    seen = []

    def merge(merging):
        assert merging is strategy
        seen.append(look(strategy))

    def replica():
        seen.append(look(strategy))
        replica_context().merge_call(merge)
        seen.append(look(strategy))

    def program():
        if compiled:
            seen.append(look(strategy))
        return strategy.run(replica)

    call = tf.function(program) if compiled else program
    if in_scope:
        with strategy.scope():
            call()
    else:
        call()
    # A function that is traced out of scope may be traced for the default strategy first.
    assert seen[-3:] == [REPLICA, SCOPE, REPLICA]
    if compiled and in_scope:
        assert seen[0] == SCOPE
    assert look(strategy) == OUTSIDE


@pytest.mark.parametrize("compiled", [False, True])
def test_after_exceptions(compiled):
    strategy = two()

    def fails():
        raise KeyError("mine")

    call = tf.function(lambda: strategy.run(fails)) if compiled else lambda: strategy.run(fails)
    with pytest.raises(KeyError, match="mine"), strategy.scope():
        fails()
    assert look(strategy) == OUTSIDE
    with pytest.raises(KeyError, match="mine"):
        call()
    assert look(strategy) == OUTSIDE
    with strategy.scope():
        with pytest.raises(KeyError, match="mine"):
            call()
        assert look(strategy) == SCOPE


def test_after_an_exception_in_merge_call():
    strategy = two()

    def merge(_):
        raise ZeroDivisionError

    def replica():
        context = replica_context()
        with pytest.raises(ZeroDivisionError):
            context.merge_call(merge)
        assert look(strategy) == REPLICA
        context.merge_call(merge)

    with pytest.raises(ZeroDivisionError):
        strategy.run(replica)
    assert look(strategy) == OUTSIDE


def test_scope_does_not_reach_other_threads():
    strategy, seen = two(), []
    with strategy.scope():
        thread = threading.Thread(target=lambda: seen.append(look(strategy)))
        thread.start()
        thread.join()
    assert seen == [OUTSIDE]


def test_scopes_of_threads_are_their_own():
    strategies = [two(), tf.distribute.MirroredStrategy(["cpu:2", "cpu:3"])]
    both_in, seen = threading.Barrier(2, timeout=60), []

    def enter(strategy):
        with strategy.scope():
            both_in.wait()
            seen.append(look(strategy))
            both_in.wait()

    threads = [threading.Thread(target=enter, args=(strategy,)) for strategy in strategies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [SCOPE, SCOPE]


def others():
    return [
        two(),  # equal devices make no equal strategy
        tf.distribute.OneDeviceStrategy("cpu:0"),
        tf.distribute.MirroredStrategy(["cpu:0", "cpu:1", "cpu:2"]),
    ]


@pytest.mark.parametrize("index", range(3))
def test_scope_of_another_strategy_in_a_scope(index):
    strategy, other = two(), others()[index]
    with strategy.scope():
        with pytest.raises(RuntimeError, match="inside the scope of"), other.scope():
            pass
        assert look(strategy) == SCOPE
    with other.scope():
        assert tf.distribute.get_strategy() is other


@pytest.mark.parametrize("ran_before", [False, True])
@pytest.mark.parametrize("index", range(3))
def test_run_of_another_strategy_in_a_scope(index, ran_before):
    strategy, other = two(), others()[index]

    def replica():
        return 1.0

    if ran_before:  # a compiled step is at hand, and must be refused all the same
        other.run(replica)
    with strategy.scope():
        with pytest.raises(RuntimeError, match="scope"):
            other.run(replica)
        assert look(strategy) == SCOPE


@pytest.mark.parametrize("compiled", [False, True])
def test_scope_in_run(compiled):
    strategy = two()
    for inner in (strategy, *others()):

        def replica(inner=inner):
            with inner.scope():
                return 1.0

        def call(replica=replica):
            return strategy.run(replica)

        with pytest.raises(RuntimeError, match="scope"):
            (tf.function(call) if compiled else call)()
        assert look(strategy) == OUTSIDE


@pytest.mark.parametrize("compiled", [False, True])
def test_run_in_run(compiled):
    strategy = two()
    for inner in (strategy, *others()):

        def replica(inner=inner):
            return inner.run(lambda: 1.0)

        def call(replica=replica):
            return strategy.run(replica)

        with pytest.raises(RuntimeError):
            (tf.function(call) if compiled else call)()
        assert look(strategy) == OUTSIDE


def test_run_and_scope_in_merge_call():
    strategy = two()

    def merge(merging):
        with merging.scope():
            assert look(strategy) == SCOPE
        return merging.run(lambda: replica_context().replica_id_in_sync_group * 3)

    result = strategy.run(lambda: replica_context().merge_call(merge))
    assert [int(value) for value in result.values] == [0, 3]


def test_set_strategy():
    strategy, other = two(), others()[0]
    try:
        tf.distribute.experimental_set_strategy(strategy)
        assert look(strategy) == SCOPE
        with strategy.scope():
            assert look(strategy) == SCOPE
        assert look(strategy) == SCOPE
        with pytest.raises(RuntimeError), other.scope():
            pass
        tf.distribute.experimental_set_strategy(other)
        assert look(other) == SCOPE
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert look(strategy) == OUTSIDE


def test_set_strategy_where_it_could_not_end():
    strategy = two()
    with strategy.scope():
        for value in (strategy, None):
            with pytest.raises(RuntimeError, match="experimental_set_strategy"):
                tf.distribute.experimental_set_strategy(value)
        assert look(strategy) == SCOPE
    with pytest.raises(RuntimeError, match="experimental_set_strategy"):
        strategy.run(lambda: tf.distribute.experimental_set_strategy(None))
    assert look(strategy) == OUTSIDE
