"""run, reduce, gather and the replica context, against numbers that TensorFlow 2.21 gave."""

import functools
import gc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends import tf
from spmd.replica import is_per_replica

SPELLINGS = [("SUM", 4.0), ("sum", 4.0), ("Mean", 2.0), ("mean", 2.0), ("MEAN", 2.0)]


def replica_context() -> Any:  # never None where the tests ask for it
    return tf.distribute.get_replica_context()


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def per_replica(strategy, values):
    """Makes a per-replica value out of one value for each replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: np.asarray(values[context.replica_id_in_sync_group], np.float32)
    )


def rows(strategy, blocks):
    """Makes a batch with other rows for each replica."""
    arrays = [np.asarray(block, np.float32) for block in blocks]
    (batch,) = strategy.distribute_datasets_from_function(lambda context: arrays)
    return batch


def replica_id():
    return replica_context().replica_id_in_sync_group


def in_both_ways(program: Any) -> Any:
    """The program as it is, and compiled."""
    compiled: Any = tf.function(program)
    return program(), compiled()


def lists(tree):
    return jax.tree.map(
        lambda leaf: [np.asarray(value).tolist() for value in leaf.values],
        tree,
        is_leaf=is_per_replica,
    )


def plain(tree):
    return jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), tree)


# run


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


def test_what_is_no_array_cannot_be_a_result():
    with pytest.raises(TypeError, match=r"\['s'\].*only arrays, numbers, None"):
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


# Functions that run keeps compiled.


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
    assert len(traces) == 1


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


@pytest.mark.filterwarnings("ignore::spmd.RecompilationWarning")
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


@pytest.mark.filterwarnings("ignore::spmd.RecompilationWarning")
def test_an_array_that_a_function_closes_over_may_be_another_next_time():
    strategy = mirrored()
    for index in range(4):
        weights = jnp.full((2,), float(index))
        result = strategy.run(lambda: weights.sum())  # noqa: B023
        assert lists(result) == [2.0 * index] * 2


# reduce: the inputs and results are recorded from TensorFlow.

SCALAR = [1.0, 2.5]
VECTOR = [[1.0, 0.0, -0.25], [2.0, 2.0, -0.25]]
MATRIX = [[[1.0, 2.0, 0.0], [0.0, 4.0, -1.0]], [[2.0, 2.0, 3.0], [0.1, 4.0, -1.0]]]
SHORT = [[1.0, 0.0], [2.0, 5.0]]


@pytest.mark.parametrize(
    ("values", "op", "axis", "expected"),
    [
        (SCALAR, "SUM", None, 3.5),
        (SCALAR, "MEAN", None, 1.75),
        (VECTOR, "SUM", None, [3.0, 2.0, -0.5]),
        (VECTOR, "MEAN", None, [1.5, 1.0, -0.25]),
        (MATRIX, "SUM", 0, [3.1, 12.0, 1.0]),
        (MATRIX, "SUM", 1, [10.0, 6.1]),
        (MATRIX, "SUM", -1, [10.0, 6.1]),
        (MATRIX, "MEAN", 0, [0.775, 3.0, 0.25]),
        (MATRIX, "MEAN", 1, [10 / 6, 6.1 / 6]),
        (MATRIX, "MEAN", -1, [10 / 6, 6.1 / 6]),
        (SHORT, "SUM", 0, 8.0),
        (SHORT, "SUM", -1, 8.0),
        (SHORT, "MEAN", 0, 2.0),
        (SHORT, "MEAN", -1, 2.0),
    ],
)
def test_reduce(values, op, axis, expected):
    strategy = mirrored()
    value = per_replica(strategy, values)
    compiled = tf.function(lambda value: strategy.reduce(op, value, axis=axis))
    for result in (strategy.reduce(op, value, axis), compiled(value)):
        assert isinstance(result, jax.Array)
        assert result.dtype == jnp.float32
        np.testing.assert_allclose(result, expected, rtol=1e-6)


UNEVEN = [[[0.0, 0.5]], [[10.0, 10.5], [11.0, 11.5]]]


@pytest.mark.parametrize(
    ("blocks", "op", "expected"),
    [
        (UNEVEN, "SUM", [21.0, 22.5]),
        (UNEVEN, "MEAN", [7.0, 7.5]),
        ([[0.0], [0.0, 1.0]], "SUM", 1.0),
        ([[0.0], [0.0, 1.0]], "MEAN", 1 / 3),
        ([[4.0, 5.0]], "SUM", 9.0),
        ([[4.0, 5.0]], "MEAN", 4.5),
    ],
)
def test_reduce_of_uneven_rows_leaves_padding_out(blocks, op, expected):
    strategy = mirrored()
    batch = rows(strategy, blocks)

    @tf.function
    def compiled(batch):
        return strategy.reduce(op, strategy.run(lambda x: x + 0, args=(batch,)), axis=0)

    result = strategy.run(lambda x: x + 0, args=(batch,))
    for total in (strategy.reduce(op, batch, axis=0), strategy.reduce(op, result, axis=0)):
        np.testing.assert_allclose(total, expected, rtol=1e-6)
    np.testing.assert_allclose(compiled(batch), expected, rtol=1e-6)


@pytest.mark.parametrize("replicas", [1, 2, 4])
@pytest.mark.parametrize("total", [1, 3, 4, 5, 7, 8])
@pytest.mark.parametrize("axis", [0, -2])
def test_reduce_of_a_dataset_counts_every_row_once(replicas, total, axis):
    strategy = mirrored(replicas)
    data = np.arange(2.0 * total, dtype=np.float32).reshape(total, 2) + 1
    (batch,) = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices(data).batch(8)
    )

    @tf.function
    def compiled(batch):
        result = strategy.run(lambda x: x * 2, args=(batch,))
        return strategy.reduce("SUM", result, axis), strategy.reduce("MEAN", result, axis)

    result = strategy.run(lambda x: x * 2, args=(batch,))
    np.testing.assert_allclose(strategy.reduce("SUM", result, axis), 2 * data.sum(0), rtol=1e-6)
    np.testing.assert_allclose(strategy.reduce("MEAN", result, axis), 2 * data.mean(0), rtol=1e-6)
    totals, means = compiled(batch)
    np.testing.assert_allclose(totals, 2 * data.sum(0), rtol=1e-6)
    np.testing.assert_allclose(means, 2 * data.mean(0), rtol=1e-6)


@pytest.mark.parametrize("axis", [2, -3])
def test_reduce_along_an_axis_that_is_not_there(axis):
    strategy = mirrored()
    value = per_replica(strategy, MATRIX)
    with pytest.raises(ValueError, match=f"no axis {axis}"):
        strategy.reduce("SUM", value, axis=axis)
    with pytest.raises(ValueError, match=f"no axis {axis}"):
        tf.function(lambda value: strategy.reduce("SUM", value, axis=axis))(value)


def test_reduce_of_a_structure():
    strategy = mirrored()
    value = strategy.run(lambda: {"a": (replica_id() + 1.0, None), "b": [jnp.arange(2.0)]})
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)
    assert plain(total) == {"a": (3.0, None), "b": [[0.0, 2.0]]}


@pytest.mark.parametrize(("op", "expected"), SPELLINGS)
def test_reduce_by_any_spelling(op, expected):
    strategy = mirrored()
    value = per_replica(strategy, [1.0, 3.0])
    assert float(strategy.reduce(op, value, axis=None)) == expected


@pytest.mark.parametrize("op", ["MAX", "min", "foo", None, 0])
def test_reduce_by_what_is_no_reduction(op):
    strategy = mirrored()
    value = per_replica(strategy, [1.0, 3.0])
    with pytest.raises(ValueError, match="Unknown reduction"):
        strategy.reduce(op, value, axis=None)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float16, jnp.bfloat16, np.float32])
def test_sums_keep_their_type(dtype):
    strategy = mirrored()
    value = strategy.experimental_distribute_values_from_function(
        lambda context: np.array([0, 3] if context.replica_id_in_sync_group else [2, 2], dtype)
    )
    for axis, expected in ((None, [2.0, 5.0]), (0, 7.0)):
        total = strategy.reduce("SUM", value, axis=axis)
        assert total.dtype == dtype
        assert np.asarray(total, np.float32).tolist() == expected


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float16, jnp.bfloat16, np.float32])
@pytest.mark.parametrize(("axis", "expected"), [(None, [1.0, 2.5]), (0, 1.75)])
def test_a_mean_is_a_fraction(dtype, axis, expected):
    """TensorFlow gives floating point means of integers as well."""
    strategy = mirrored()
    value = strategy.experimental_distribute_values_from_function(
        lambda context: np.array([0, 3] if context.replica_id_in_sync_group else [2, 2], dtype)
    )
    compiled = tf.function(lambda value: strategy.reduce("MEAN", value, axis=axis))
    for mean in (strategy.reduce("MEAN", value, axis=axis), compiled(value)):
        assert np.asarray(mean, np.float32).tolist() == expected


@pytest.mark.parametrize("value", [3.0, 3, np.float32(3), np.array([1.0, 3.0]), [1.0, 2.0]])
def test_a_sum_of_one_value_for_all_replicas_is_refused(value):
    strategy = mirrored()
    with pytest.raises(ValueError, match=r"one\s+value per replica"):
        strategy.reduce("SUM", value, axis=None)
    with pytest.raises(ValueError, match=r"one\s+value per replica"):
        strategy.reduce("SUM", jax.tree.map(jnp.asarray, value), axis=None)


def test_a_sum_of_one_value_is_refused_in_a_compiled_function_as_well():
    strategy = mirrored()
    with pytest.raises(ValueError, match=r"one\s+value per replica"):
        tf.function(lambda x: strategy.reduce("SUM", x, axis=None))(jnp.ones(3))


def test_a_mean_of_one_value_for_all_replicas_is_that_value():
    strategy = mirrored()
    assert strategy.reduce("MEAN", 3.0, axis=None) == 3.0
    assert plain(strategy.reduce("MEAN", {"a": jnp.arange(2.0)}, axis=None)) == {"a": [0.0, 1.0]}
    assert float(strategy.reduce("MEAN", np.array([1.0, 2.0, 6.0]), axis=0)) == 3.0
    compiled = tf.function(lambda x: strategy.reduce("MEAN", x, axis=0))
    assert float(compiled(jnp.array([1.0, 2.0, 6.0]))) == 3.0
    with pytest.raises(ValueError, match="axis"):
        strategy.reduce("MEAN", 3.0, axis=0)


def test_one_replica_reduces_plain_values():
    strategy = mirrored(1)
    assert strategy.reduce("SUM", 3.0, axis=None) == 3.0
    assert float(strategy.reduce("SUM", np.array([1.0, 3.0]), axis=0)) == 4.0


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


# gather and local results


def test_gather():
    strategy = mirrored()
    value = per_replica(strategy, [[[0.0, 0.5], [10.0, 0.0]], [[1.0, 1.5], [11.0, -1.0]]])
    down = [[0.0, 0.5], [10.0, 0.0], [1.0, 1.5], [11.0, -1.0]]
    across = [[0.0, 0.5, 1.0, 1.5], [10.0, 0.0, 11.0, -1.0]]
    for axis, expected in ((0, down), (1, across), (-1, across), (-2, down)):
        assert strategy.gather(value, axis=axis).tolist() == expected
        compiled = tf.function(lambda value, axis=axis: strategy.gather(value, axis=axis))
        assert compiled(value).tolist() == expected


def test_gather_of_uneven_rows():
    strategy = mirrored()
    batch = rows(strategy, UNEVEN)
    expected = [[0.0, 0.5], [10.0, 10.5], [11.0, 11.5]]
    assert strategy.gather(batch, axis=0).tolist() == expected
    result = strategy.run(lambda x: x + 0, args=(batch,))
    assert strategy.gather({"a": result}, axis=0)["a"].tolist() == expected


def test_gather_of_rows_of_a_replica_without_any():
    strategy = mirrored()
    assert strategy.gather(rows(strategy, [[[1.0, 2.0]]]), axis=0).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("replicas", [1, 2, 4])
@pytest.mark.parametrize("total", [1, 2, 5, 7, 8])
def test_gather_gives_a_dataset_back_in_order(replicas, total):
    strategy = mirrored(replicas)
    batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(total).batch(3))
    found = [strategy.gather(strategy.run(lambda x: x * x, (b,)), axis=0) for b in batches]
    assert np.concatenate(found).tolist() == [i * i for i in range(total)]


def test_gather_of_what_cannot_be_gathered():
    strategy = mirrored()
    with pytest.raises(ValueError, match="no axis 0"):
        strategy.gather(per_replica(strategy, SCALAR), axis=0)
    with pytest.raises(ValueError, match="no axis 2"):
        strategy.gather(per_replica(strategy, MATRIX), axis=2)


def test_gather_of_plain_values_gives_them_back():
    strategy = mirrored()
    assert strategy.gather(3.0, axis=0) == 3.0
    assert plain(strategy.gather({"a": jnp.arange(2)}, axis=0)) == {"a": [0, 1]}


def test_gather_of_rows_in_a_compiled_function_says_what_to_do():
    strategy = mirrored()
    with pytest.raises(ValueError, match="outside"):
        tf.function(lambda x: strategy.gather(x, axis=0))(rows(strategy, UNEVEN))


def test_local_results():
    strategy = mirrored()
    value = strategy.run(lambda: {"a": 2.0 * replica_id(), "l": [replica_id(), None]})
    results = strategy.experimental_local_results(value)
    assert type(results) is tuple
    expected = ({"a": 0.0, "l": [0, None]}, {"a": 2.0, "l": [1, None]})
    assert plain(results) == expected
    assert plain(strategy.experimental_local_results(value["a"])) == (0.0, 2.0)
    compiled = tf.function(lambda value: strategy.experimental_local_results(value))
    assert plain(compiled(value)) == expected


@pytest.mark.parametrize("value", [3.0, None, "text"])
def test_local_results_of_plain_values(value):
    assert mirrored().experimental_local_results(value) == (value,)


def test_local_results_of_structures_with_plain_values_in_them():
    """TensorFlow repeats a plain value for every replica."""
    strategy = mirrored()
    value = {"a": per_replica(strategy, [1.0, 2.0]), "n": 5}
    assert plain(strategy.experimental_local_results(value)) == (
        {"a": 1.0, "n": 5},
        {"a": 2.0, "n": 5},
    )


def test_local_results_leave_padding_out():
    strategy = mirrored()
    batch = rows(strategy, [[0.0], [1.0, 2.0]])
    assert plain(strategy.experimental_local_results(batch)) == ([0.0], [1.0, 2.0])
    compiled = tf.function(lambda batch: strategy.experimental_local_results(batch))
    # One program serves full and partial batches, so it cannot tell how many rows to return.
    with pytest.raises(ValueError, match=r"outside|padding|padded"):
        compiled(batch)


# The replica context.


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


# Values and datasets.


def test_values_from_function():
    strategy, seen = mirrored(), []

    def value_fn(context):
        seen.append((context.replica_id_in_sync_group, context.num_replicas_in_sync))
        r = context.replica_id_in_sync_group
        return {"a": np.full((2,), r, np.float32), "b": (r, r * 0.5), "c": jnp.int32(r)}

    value = strategy.experimental_distribute_values_from_function(value_fn)
    assert seen == [(0, 2), (1, 2)]
    assert lists(value) == {"a": [[0.0, 0.0], [1.0, 1.0]], "b": ([0, 1], [0.0, 0.5]), "c": [0, 1]}
    assert lists(strategy.run(lambda value: value["b"][1] * 2, args=(value,))) == [0.0, 1.0]
    assert [v.devices() for v in value["c"].values] == [{d} for d in jax.devices("cpu")[:2]]


def test_values_from_function_have_one_shape():
    with pytest.raises(ValueError, match="shape"):
        mirrored().experimental_distribute_values_from_function(
            lambda context: np.zeros((1, context.replica_id_in_sync_group + 1))
        )


@pytest.mark.parametrize(
    "name", ["experimental_make_numpy_dataset", "make_experimental_numpy_dataset"]
)
def test_numpy_datasets(name):
    strategy = mirrored()
    arrays = (np.arange(6.0, dtype=np.float32).reshape(3, 2), np.arange(3))
    for owner in (strategy, strategy.extended):
        make = getattr(owner, name)
        dataset = make(arrays)
        assert isinstance(dataset, tf.data.Dataset)
        found = [(x.tolist(), int(y)) for x, y in dataset]
        assert found == [([0.0, 1.0], 0), ([2.0, 3.0], 1), ([4.0, 5.0], 2)]
        (batch,) = strategy.experimental_distribute_dataset(dataset.batch(4))
        assert lists(batch) == ([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]], [[0, 1], [2]])
        assert [row["x"].tolist() for row in make({"x": arrays[1]}, session=None)] == [0, 1, 2]


def test_input_is_made_outside_of_replicas():
    strategy = mirrored()
    dataset = tf.data.Dataset.range(4).batch(2)
    for make in (
        lambda: strategy.experimental_distribute_dataset(dataset),
        lambda: strategy.distribute_datasets_from_function(lambda _: dataset),
        lambda: strategy.experimental_distribute_values_from_function(lambda _: 1.0),
    ):
        with pytest.raises(RuntimeError, match="outside"):
            strategy.run(lambda make=make: make() and None)


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
    with pytest.warns(spmd.RecompilationWarning, match=r"'step' 4 times.* closes over rate\)"):
        assert scaled(jnp.float32(3)) == 6
