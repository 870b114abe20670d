"""reduce, gather and local results, against numbers that TensorFlow 2.21 gave."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.distribute.replicas import mirrored, per_replica, plain, replica_id, rows

SPELLINGS = [("SUM", 4.0), ("sum", 4.0), ("Mean", 2.0), ("mean", 2.0), ("MEAN", 2.0)]
SCALAR = [1.0, 2.5]
VECTOR = [[1.0, 0.0, -0.25], [2.0, 2.0, -0.25]]
MATRIX = [[[1.0, 2.0, 0.0], [0.0, 4.0, -1.0]], [[2.0, 2.0, 3.0], [0.1, 4.0, -1.0]]]
SHORT = [[1.0, 0.0], [2.0, 5.0]]
UNEVEN = [[[0.0, 0.5]], [[10.0, 10.5], [11.0, 11.5]]]


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


def test_gather_of_rows_in_a_compiled_function():
    strategy = mirrored()
    gather = tf.function(lambda x: strategy.gather(x, axis=0))
    value = rows(strategy, UNEVEN)
    np.testing.assert_array_equal(gather(value), strategy.gather(value, axis=0))


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
    assert plain(compiled(batch)) == ([0.0], [1.0, 2.0])


@pytest.mark.parametrize("op", ["SUM", "MEAN"])
def test_one_replica_keeps_the_type_of_integers_and_booleans(op):
    strategy = mirrored(1)
    for value, kind in (([1, 2], jnp.int32), ([3], jnp.uint8), ([True, False], jnp.bool_)):
        one = strategy.run(lambda value=value, kind=kind: jnp.asarray(value, kind))
        for result in (
            strategy.reduce(op, one, axis=None),
            tf.function(lambda one: strategy.reduce(op, one, axis=None))(one),
        ):
            assert result.dtype == kind
            assert result.tolist() == value
    several = mirrored(2)
    result = several.reduce("MEAN", several.run(lambda: replica_id()), axis=None)
    assert (float(result), result.dtype) == (0.5, jnp.float32)


@pytest.mark.parametrize(
    ("replicas", "axis", "error"), [(2, None, ValueError), (2, 0, TypeError), (1, 0, TypeError)]
)
def test_booleans_are_not_added(replicas, axis, error):
    strategy = mirrored(replicas)
    value = strategy.run(lambda: jnp.asarray([True, False]))
    with pytest.raises(error, match="got dtype bool"):
        strategy.reduce("SUM", value, axis=axis)
    with pytest.raises(TypeError, match="got dtype bool"):
        strategy.reduce("SUM", np.array([True]), axis=0)


def test_reduce_of_none():
    strategy = mirrored()
    for op, axis in (("SUM", None), ("SUM", 0), ("MEAN", 0)):
        with pytest.raises(ValueError, match="Return the value"):
            strategy.reduce(op, None, axis=axis)
    assert strategy.reduce("MEAN", None, axis=None) is None
    one_device = tf.distribute.OneDeviceStrategy("cpu:0")
    assert one_device.reduce("SUM", None, axis=None) is None
    with pytest.raises(ValueError, match="got None"):
        one_device.reduce("SUM", None, axis=0)
    # In a structure it stands for a part that is not there.
    assert plain(strategy.reduce("SUM", (strategy.run(lambda: 1.0), None), axis=None)) == (
        2.0,
        None,
    )


def test_reduce_of_a_list_along_an_axis():
    strategy = mirrored()
    assert float(strategy.reduce("SUM", [1.0, 2.0], axis=0)) == 6.0
    assert float(strategy.reduce("MEAN", [1.0, 2.0], axis=0)) == 1.5
    rows_of_list = [jnp.asarray([1.0, 2.0]), jnp.asarray([3.0, 5.0])]
    assert plain(strategy.reduce("SUM", rows_of_list, axis=0)) == [8.0, 14.0]
    assert plain(strategy.reduce("MEAN", rows_of_list, axis=1)) == [1.5, 4.0]
    assert plain(strategy.reduce("SUM", [[1.0, 2.0], (3.0, 5.0)], axis=0)) == [8.0, 14.0]
    # What makes no tensor is a structure.
    assert plain(strategy.reduce("SUM", [np.ones(2), np.ones(3)], axis=0)) == [4.0, 6.0]
    assert plain(strategy.reduce("SUM", [{"a": np.ones(2)}], axis=0)) == [{"a": 4.0}]
    with pytest.raises(TypeError, match="a dict has no axes"):
        strategy.reduce("SUM", {"a": 1.0}, axis=0)
    value = per_replica(strategy, SHORT)
    assert plain(strategy.reduce("SUM", [value, value], axis=0)) == [8.0, 8.0]
    assert plain(strategy.reduce("SUM", {"a": value}, axis=0)) == {"a": 8.0}


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_gather_of_one_replica_gives_its_value(axis):
    strategy = mirrored(1)
    for value in (3.0, [[1.0, 2.0], [3.0, 4.0]]):
        one = per_replica(strategy, [value])
        gathered = tf.function(lambda one: strategy.gather(one, axis=axis))
        assert plain(strategy.gather(one, axis=axis)) == plain(gathered(one)) == value


def test_gather_of_a_mirrored_variable_has_a_copy_for_each_replica():
    strategy = mirrored()
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
    assert strategy.gather(variable, axis=0).tolist() == [1.0, 2.0, 1.0, 2.0]
    assert strategy.gather(tf.constant([1.0, 2.0]), axis=0).tolist() == [1.0, 2.0]


def test_a_zero_that_all_replicas_share_may_be_added_as_a_number_only():
    strategy = mirrored()
    assert strategy.reduce("SUM", 0.0, axis=None) == 0.0
    with pytest.raises(ValueError, match="all replicas share"):
        strategy.reduce("SUM", tf.constant(0.0), axis=None)


def test_gradients_of_rows_are_reduced_as_whole_arrays():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    table = tf.Variable(tf.zeros((4, 1)))

    def gradient(known=True):
        row = tf.distribute.get_replica_context().replica_id_in_sync_group
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, tf.stack([row, 3])))
        slices = tape.gradient(loss, table)
        return slices if known else tf.IndexedSlices(slices.values, slices.indices)

    total = strategy.reduce("SUM", {"table": strategy.run(gradient)}, axis=None)
    np.testing.assert_array_equal(total["table"], [[1], [1], [0], [2]])
    mean = strategy.reduce("MEAN", strategy.run(gradient), axis=None)
    np.testing.assert_array_equal(mean, [[0.5], [0.5], [0], [1]])
    for values, axis in ((strategy.run(gradient), 0), (strategy.run(gradient, (False,)), None)):
        with pytest.raises(TypeError, match="Combine them in the replica"):
            strategy.reduce("SUM", values, axis=axis)
