"""Random shapes, types, nestings, replica counts and remainders, against NumPy."""

import math

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from frontends import tf

# Each example compiles a program of its own, so they are few.
few = settings(max_examples=5)

DTYPES = ("float32", "int32", "float16", "uint8", "bool")


@st.composite
def trees(draw, rows):
    """A nested structure of arrays with so many rows."""

    def leaf():
        shape = (rows, *draw(st.lists(st.integers(0, 3), max_size=2)))
        values = np.arange(math.prod(shape)).reshape(shape) % 7
        return values.astype(draw(st.sampled_from(DTYPES)))

    kind = draw(st.sampled_from(["leaf", "tuple", "dict"]))
    if kind == "leaf":
        return leaf()
    if kind == "tuple":
        return leaf(), (leaf(),)
    return {"b": leaf(), "a": {"c": leaf()}}


@st.composite
def epochs(draw):
    rows = draw(st.integers(1, 17))
    return draw(st.integers(1, 5)), draw(st.integers(1, 9)), draw(trees(rows)), rows


def _strategy(replicas):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])


def _rows_of_replicas(rows, replicas):
    """Where TensorFlow puts rows: as many as the others, first replicas first."""
    each = -(-rows // replicas)
    return [(min(i * each, rows), min((i + 1) * each, rows)) for i in range(replicas)]


def _leaves(tree):
    return tf.nest.flatten(tree)


@few
@given(epochs())
def test_every_row_reaches_one_replica_once_and_comes_back_in_order(epoch):
    replicas, batch_size, tree, rows = epoch
    strategy = _strategy(replicas)
    dataset = tf.data.Dataset.from_tensor_slices(tree).batch(batch_size)
    start = 0
    for batch in strategy.experimental_distribute_dataset(dataset):
        size = min(batch_size, rows - start)
        bounds = _rows_of_replicas(size, replicas)
        echoed = strategy.run(lambda *values: tf.nest.map_structure(lambda x: x, values), (batch,))
        for leaf, whole in zip(_leaves(echoed[0]), _leaves(tree), strict=True):
            expected = whole[start : start + size]
            for value, (low, high) in zip(leaf.values, bounds, strict=True):
                np.testing.assert_array_equal(value, expected[low:high])
                assert value.dtype == expected.dtype
            np.testing.assert_array_equal(strategy.gather(leaf, axis=0), expected)
        start += size
    assert start == rows


@few
@given(epochs(), st.sampled_from(["SUM", "MEAN"]))
def test_reducing_rows_leaves_padding_out(epoch, op):
    replicas, batch_size, tree, rows = epoch
    strategy = _strategy(replicas)
    # What the mean of integers is, TensorFlow decides: see tests/golden.
    types = (np.float32, np.int32) if op == "SUM" else (np.float32,)
    fitting = [leaf for leaf in _leaves(tree) if leaf.dtype in types]
    whole = fitting[0] if fitting else np.arange(2.0 * rows, dtype=np.float32).reshape(rows, 2)
    dataset = tf.data.Dataset.from_tensor_slices(whole).batch(batch_size)
    start = 0
    for batch in strategy.experimental_distribute_dataset(dataset):
        part = whole[start : start + batch_size]
        found = strategy.reduce(op, batch, axis=0)
        expected = part.sum(0) if op == "SUM" else part.astype(np.float64).mean(0)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        start += len(part)


@few
@given(
    st.integers(1, 6),
    st.lists(st.integers(1, 3), max_size=3),
    st.sampled_from(["float32", "int32", "float16"]),
    st.sampled_from(["SUM", "MEAN"]),
    st.booleans(),
)
def test_run_and_reduce_over_replicas(replicas, shape, dtype, op, compiled):
    strategy = _strategy(replicas)
    base = (np.arange(math.prod(shape)).reshape(shape) % 5).astype(dtype)

    def replica(x):
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        return {"y": [x * tf.cast(index + 1, x.dtype)]}

    def program(x):
        return strategy.reduce(op, strategy.run(replica, args=(x,)), axis=None)

    found = (tf.function(program) if compiled else program)(tf.constant(base))["y"][0]
    each = np.stack([base * (index + 1) for index in range(replicas)])
    if op == "SUM":
        np.testing.assert_allclose(found, each.sum(0), rtol=1e-3)
        assert found.dtype == dtype
    elif dtype != "int32":
        np.testing.assert_allclose(found, each.mean(0, dtype=np.float64), rtol=2e-3)
