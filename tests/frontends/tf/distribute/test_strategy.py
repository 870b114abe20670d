"""run, and what counts as the same step, against numbers that TensorFlow 2.21 gave."""

import functools
import gc

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
    per_replica,
    replica_id,
    rows,
)


def test_a_scalar_for_each_replica():
    strategy = mirrored()
    for result in in_both_ways(lambda: strategy.run(lambda: 10.0 * replica_id() + 1)):
        assert isinstance(result, tf.distribute.DistributedValues)
        assert lists(result) == [1.0, 11.0]
        assert [float(value) for value in result] == [1.0, 11.0]
        assert float(result[1]) == 11.0


def test_nested_results_keep_their_structure():
    strategy = mirrored()

    def replica():
        r = replica_id().astype(jnp.float32)
        return {"v": jnp.stack([r, r + 0.5]), "l": [2 * r, {"deep": 3 * r}], "t": (r, None), "i": 7}

    for result in in_both_ways(lambda: strategy.run(replica)):
        assert type(result["t"]) is tuple
        assert type(result["l"]) is list
        assert lists(result) == {
            "v": [[0.0, 0.5], [1.0, 1.5]],
            "l": [[0.0, 2.0], {"deep": [0.0, 3.0]}],
            "t": ([0.0, 1.0], None),
            "i": [7, 7],
        }


@pytest.mark.parametrize("value", [None, {}, [], (), {"a": None}])
def test_nothing_is_a_result(value):
    strategy = mirrored()
    assert in_both_ways(lambda: strategy.run(lambda: value)) == (value, value)


@pytest.mark.parametrize("value", [2.5, 7, True])
def test_numbers_are_results_on_every_replica(value):
    strategy = mirrored()
    for result in in_both_ways(lambda: strategy.run(lambda: value)):
        assert lists(result) == [value, value]


def test_texts_are_results():
    strategy = mirrored()
    for result in in_both_ways(lambda: strategy.run(lambda: {"name": "abc", "x": replica_id()})):
        assert result["name"] == "abc"
        assert lists(result["x"]) == [0, 1]


def test_what_is_no_array_cannot_be_a_result():
    with pytest.raises(TypeError, match=r"\['s'\].*only arrays, numbers, texts, None"):
        mirrored().run(lambda: {"s": object()})


def test_arguments_are_split_or_go_whole():
    """The recorded case of TensorFlow: a + b * c + d["x"]."""
    strategy = mirrored()
    a = per_replica(strategy, [[100.0, 0.0], [200.0, 0.0]])
    x = per_replica(strategy, [1.0, 2.0])

    def replica(a, b, c, *, d, flag=False):
        assert flag is True
        assert d["name"] == "whole"
        assert a.shape == (2,)
        return a + b * c + jnp.stack([d["x"], jnp.ones(())])

    kwargs = {"d": {"x": x, "name": "whole"}, "flag": True}
    args = (a, 2.0, np.array([3.0, 3.0], np.float32))
    result = strategy.run(replica, args=args, kwargs=kwargs)
    assert lists(result) == [[107.0, 7.0], [208.0, 7.0]]
    compiled = tf.function(lambda args, kwargs: strategy.run(replica, args, kwargs))
    assert lists(compiled(args, kwargs)) == lists(result)
    assert lists(compiled(args, kwargs=kwargs)) == lists(result)


def test_args_may_be_a_list():
    strategy = mirrored()
    x = per_replica(strategy, [1.0, 2.0])
    assert lists(strategy.run(lambda x: x + 1, args=[x])) == [2.0, 3.0]


@pytest.mark.parametrize("count", [1, 2])
def test_args_without_a_tuple_are_refused(count):
    """The classic slip, run(f, args=batch): a batch can be iterated over, but was not meant to be."""
    strategy = mirrored(count)
    x = per_replica(strategy, [[1.0, 2.0], [3.0, 4.0]])
    for bare in (x, jnp.arange(2.0), np.arange(2.0)):
        with pytest.raises((ValueError, TypeError), match="tuple"):
            strategy.run(lambda *args: sum(args), args=bare)


def test_run_options_are_accepted():
    assert lists(mirrored().run(lambda x: x, (1.0,), {}, None)) == [1.0, 1.0]


@pytest.mark.parametrize("what", [5, None, "step"])
def test_run_needs_a_function(what):
    with pytest.raises(TypeError, match="function"):
        mirrored().run(what)


def test_run_with_wrong_arguments_fails_as_the_call_would():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        mirrored().run(lambda a: a)


def test_values_of_other_devices_are_refused():
    x = per_replica(mirrored(4), [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match="4 device"):
        mirrored(2).run(lambda x: x, args=(x,))


def test_results_are_arguments_again():
    strategy = mirrored()
    first = strategy.run(lambda: jnp.stack([replica_id(), replica_id() + 5]))
    second = strategy.run(lambda x: x * 10, args=(first,))
    assert lists(second) == [[0, 50], [10, 60]]


def test_rows_of_a_result_are_rows_of_its_batch():
    strategy = mirrored()
    batch = rows(strategy, [[0.0], [1.0, 2.0]])
    assert lists(strategy.run(lambda x: x * 2, args=(batch,))) == [[0.0], [2.0, 4.0]]


def counted(strategy, make, calls=4):
    """Runs what `make(count)` makes, several times; `count()` is to be called while tracing."""
    traces = []
    results = [strategy.run(make(lambda: traces.append(1))) for _ in range(calls)]
    return len(traces), [float(result.values[0]) for result in results]


def test_a_function_is_traced_once():
    def make(count, known=[]):  # noqa: B006
        if not known:
            known.append(lambda: (count(), 1.0)[1])
        return known[0]

    assert counted(mirrored(), make) == (1, [1.0] * 4)


def test_a_lambda_is_not_compiled_anew_at_every_call():
    strategy, traces = mirrored(), []
    for _ in range(4):
        strategy.run(lambda: (traces.append(1), 1.0)[1])
    assert len(traces) == 1


def test_a_nested_function_is_not_compiled_anew_at_every_call():
    strategy, traces = mirrored(), []

    def train(x):
        def replica(x):
            traces.append(1)
            return x + 1

        return strategy.run(replica, args=(x,))

    assert [float(train(float(i)).values[0]) for i in range(4)] == [1.0, 2.0, 3.0, 4.0]
    assert len(traces) == 2  # for 0.0, and for any number


def test_functions_that_hold_nested_functions_are_not_compiled_anew():
    """A training step with a loss function beside it, both made at every call."""
    strategy, traces = mirrored(), []

    def train(x):
        def loss_fn(w):
            return (w * x) ** 2

        def replica():
            traces.append(1)
            return jax.grad(loss_fn)(3.0)

        return strategy.run(replica)

    x = jnp.float32(2.0)
    assert [float(train(x).values[0]) for _ in range(4)] == [24.0] * 4
    assert len(traces) == 1


def test_partials_and_methods_are_not_compiled_anew():
    strategy, traces = mirrored(), []

    class Trainer:
        def step(self, scale, x):
            traces.append(1)
            return scale * x

    trainer, scale = Trainer(), 3.0
    for _ in range(3):
        result = strategy.run(functools.partial(trainer.step, scale, x=2.0))
        assert lists(result) == [6.0, 6.0]
    for _ in range(3):
        assert lists(strategy.run(trainer.step, args=(2.0, 5.0))) == [10.0, 10.0]
    assert len(traces) == 2


@pytest.mark.filterwarnings("ignore::spmd.errors.RecompilationWarning")
@pytest.mark.parametrize("how", ["default", "keyword default", "cell", "partial", "loop variable"])
def test_what_a_function_was_made_with_is_not_forgotten(how):
    """Compiled steps are kept by code, so all else that a function holds must count as well."""
    strategy = mirrored()

    def make(scale):
        if how == "default":
            return lambda scale=scale: scale * 1.0
        if how == "keyword default":
            return lambda *, scale=scale: scale * 1.0
        if how == "cell":
            return lambda: scale * 1.0
        return functools.partial(lambda scale: scale * 1.0, scale)

    results, expected = [], [index + 0.5 for index in range(12)]
    for index in range(12):
        scale = index + 0.5
        fn = (lambda: scale * 1.0) if how == "loop variable" else make(scale)  # noqa: B023
        results.append(float(strategy.run(fn).values[0]))
        del fn
        gc.collect()  # so that ids are used again
    assert results == expected


def test_methods_of_two_objects_are_two_functions():
    strategy = mirrored()

    class Scale:
        def __init__(self, scale):
            self.scale = scale

        def __call__(self, x):
            return x * self.scale

        def method(self, x):
            return x * self.scale

    for scale in range(6):
        thing = Scale(float(scale))
        assert lists(strategy.run(thing.method, args=(2.0,))) == [2.0 * scale] * 2
        assert lists(strategy.run(thing, args=(2.0,))) == [2.0 * scale] * 2
        thing.scale = 10.0
        assert lists(strategy.run(thing.method, args=(2.0,))) == [20.0] * 2
        assert lists(strategy.run(thing, args=(2.0,))) == [20.0] * 2


def test_a_function_that_calls_itself_is_not_compiled_anew():
    strategy, traces = mirrored(), []

    def train():
        def power(x, n):
            traces.append(n)
            return x if n == 0 else x * power(x, n - 1)

        return strategy.run(lambda x: power(x, 2), args=(2.0,))

    for _ in range(3):
        assert lists(train()) == [8.0, 8.0]
    assert traces == [2, 1, 0]


@pytest.mark.filterwarnings("ignore::spmd.errors.RecompilationWarning")
def test_an_array_that_a_function_closes_over_may_be_another_next_time():
    strategy = mirrored()
    for index in range(4):
        weights = jnp.full((2,), float(index))
        result = strategy.run(lambda: weights.sum())  # noqa: B023
        assert lists(result) == [2.0 * index] * 2


@pytest.mark.parametrize("name", ["reduce", "reduce plain", "gather", "local results"])
def test_what_belongs_between_replicas_is_refused_inside(name):
    strategy = mirrored()
    outside = per_replica(strategy, [[1.0], [2.0]])
    calls = {
        "reduce": lambda x: strategy.reduce("SUM", outside, axis=None),
        "reduce plain": lambda x: strategy.reduce("SUM", x, axis=None),
        "gather": lambda x: strategy.gather(x, axis=0),
        "local results": lambda x: strategy.experimental_local_results(outside)[0],
    }
    with pytest.raises(RuntimeError):
        strategy.run(calls[name], args=(outside,))


def test_the_engine_is_behind_it():
    """What `spmd` makes and what the strategy makes mix."""
    strategy = mirrored()
    (batch,) = spmd.distribute(np.arange(4.0, dtype=np.float32), strategy.mesh, batch_size=4)
    assert float(strategy.reduce("SUM", batch, axis=0)) == 6.0
    step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), strategy.mesh)
    (other,) = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))
    assert int(step(other)) == 6


def test_a_function_that_is_bound_to_other_objects_again_and_again_warns():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def scaled(rate):
        def step():
            return rate * 2

        return float(strategy.run(step).values[0])

    assert [scaled(jnp.float32(rate)) for rate in range(3)] == [0, 2, 4]
    with pytest.warns(
        spmd.errors.RecompilationWarning, match=r"'step' 4 times.* closes over rate\)"
    ):
        assert scaled(jnp.float32(3)) == 6


@pytest.mark.parametrize("name", ["mesh", "num_replicas_in_sync", "cluster_resolver"])
def test_what_a_strategy_is_made_of_is_read_only(name):
    with pytest.raises(AttributeError):
        setattr(mirrored(1), name, None)


def test_a_subclass_may_override_what_a_strategy_is_made_of():
    class Strategy(tf.distribute.MirroredStrategy):
        num_replicas_in_sync = property(lambda _: 8)
        cluster_resolver = property(lambda _: "mine")

    strategy = Strategy(["cpu:0"])
    assert (strategy.num_replicas_in_sync, strategy.cluster_resolver) == (8, "mine")


def test_options_of_a_run_are_accepted():
    result = mirrored(1).run(lambda: 1.0, options=tf.distribute.RunOptions())
    assert lists(result) == [1.0]
