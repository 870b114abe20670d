"""Updating some rows or elements of a `tf.Variable`; the numbers are TensorFlow's."""

import pickle

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph
from tests.frontends.tf.variables import FIRST, MEAN, ON_READ, SUM, make_variable


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def _rows(values, indices):
    return tf.IndexedSlices(values=tf.constant(values), indices=tf.constant(indices))


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("add", -1),
        ("sub", 3),
        ("update", -7),
        ("max", 5),
        ("min", -7),
        ("mul", -35),
        ("div", -1 / 35),
    ],
)
def test_some_rows_are_written(strategy, verb, expected):
    for variable in (tf.Variable([1.0, 2.0]), make_variable(strategy, [1.0, 2.0])):
        written = getattr(variable, f"scatter_{verb}")(_rows([5.0, -7.0], [0, 0]))
        np.testing.assert_allclose(written.numpy(), [expected, 2], rtol=1e-6)
        assert written is variable


@pytest.mark.parametrize(
    ("aggregation", "add", "mul", "update"),
    [(SUM, 6, 6, None), (MEAN, 3.5, 1.5, None), (FIRST, 3, 2, 2)],
)
def test_rows_that_replicas_write_are_combined(strategy, aggregation, add, mul, update):
    """The replicas write 2 and 3 to the first row, which is 1."""
    variable = make_variable(strategy, [1.0, 2.0], aggregation=aggregation)

    def replica(verb):
        row = tf.distribute.get_replica_context().replica_id_in_sync_group + 2
        rows = tf.IndexedSlices(tf.cast(row, tf.float32)[None], tf.constant([0]))
        return getattr(variable, f"scatter_{verb}")(rows)

    for verb, expected in {"add": add, "mul": mul, "update": update}.items():
        variable.assign([1.0, 2.0])
        if expected is None:
            with pytest.raises(NotImplementedError, match="does not say which replica's rows"):
                strategy.run(replica, args=(verb,))
        else:
            strategy.run(replica, args=(verb,))
            assert variable.numpy().tolist() == [expected, 2]


def test_rows_without_an_aggregation_are_the_same_on_all_replicas(strategy):
    variable = make_variable(strategy, [1.0, 2.0])
    strategy.run(lambda: variable.scatter_max(_rows([5.0], [1])))
    assert variable.numpy().tolist() == [1, 5]


def test_elements_are_written():
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    variable.scatter_nd_add([[0, 1], [1, 0]], [10.0, 20.0])
    assert variable.numpy().tolist() == [[1, 12], [23, 4]]
    variable.scatter_nd_update([[1]], [[5.0, 6.0]])
    variable.scatter_nd_sub([[0, 0]], [1.0])
    variable.scatter_nd_max([[0, 0], [1, 1]], [7.0, 1.0])
    variable.scatter_nd_min([[0, 1]], [3.0])
    assert variable.numpy().tolist() == [[7, 3], [5, 6]]
    assert variable.sparse_read([1, 0]).tolist() == [[5, 6], [7, 3]]
    assert variable.gather_nd([[1, 0], [0, 0]]).tolist() == [5, 7]


def test_rows_that_cannot_be_written(strategy):
    variable = tf.Variable([1.0, 2.0], name="v")
    with pytest.raises(TypeError, match=r"must be a `tf\.IndexedSlices`.*IndexedSlices\(values="):
        variable.scatter_add([1.0])
    for index in (2, -1):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"v:0 has no element {index} "):
            variable.scatter_update(_rows([1.0], [index]))
        compiled = tf.function(lambda i: variable.scatter_add(tf.IndexedSlices([1.0], i)))
        assert compiled(tf.constant([index])).tolist() == [1, 2]
    with pytest.raises(ValueError, match="keeps its type"):
        variable.scatter_update(_rows([1], [0]))
    own = make_variable(strategy, [1.0], synchronization=ON_READ, aggregation=SUM)
    with pytest.raises(NotImplementedError, match="ON_READ"):
        own.scatter_add(_rows([1.0], [0]))
    with pytest.raises(NotImplementedError, match="as in TensorFlow"):
        make_variable(strategy, [1.0]).scatter_nd_add([[0]], [1.0])


@pytest.mark.parametrize("name", ["scatter_add", "scatter_nd_max"])
def test_methods_can_be_pickled_and_name_their_class(name):
    method = getattr(tf.Variable, name)
    assert name.encode() in pickle.dumps(method)
    assert method.__name__ == name
    with pytest.raises(TypeError, match=rf"ScatteredVariable\.{name}\(\)"):
        method()


def test_in_a_model_function_rows_change_once_the_result_is_fetched():
    variable = tf.Variable([1.0, 2.0, 3.0])
    with Graph().as_default() as graph:
        changed = [
            variable.scatter_add(_rows([10.0], [1])),
            variable.scatter_nd_update([[0]], [7.0]),
            variable[2].assign(0.0),
        ]
        assert variable.numpy().tolist() == [1, 2, 3]
        assert changed[0].tolist() == [1, 12, 3]
        graph.run(changed)
    assert variable.numpy().tolist() == [7, 12, 0]
