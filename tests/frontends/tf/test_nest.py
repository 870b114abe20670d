"""Nested structures in TensorFlow's order."""

import collections

import jax.numpy as jnp
import pytest

from frontends import tf

Point = collections.namedtuple("Point", "x y")
STRUCTURE = {"b": [1, None], "a": (2, Point(3, {"z": 4, "y": 5}))}


def test_keys_go_in_order_and_none_is_a_leaf():
    assert tf.nest.flatten(STRUCTURE) == [2, 3, 5, 4, 1, None]
    assert tf.nest.flatten(None) == [None]
    assert tf.nest.flatten("text") == ["text"]
    assert tf.nest.flatten([]) == []
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    assert tf.nest.flatten(ordered) == [2, 1]
    array = jnp.zeros(2)
    assert tf.nest.flatten(array)[0] is array


def test_packing_keeps_the_kinds():
    assert tf.nest.pack_sequence_as(STRUCTURE, tf.nest.flatten(STRUCTURE)) == STRUCTURE
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    packed = tf.nest.pack_sequence_as(ordered, [5, 6])
    assert packed == collections.OrderedDict([("b", 6), ("a", 5)])
    assert tf.nest.pack_sequence_as(0, [7]) == 7
    with pytest.raises(ValueError, match="has 2 leaves, but flat_sequence has 1"):
        tf.nest.pack_sequence_as([0, 0], [7])


def test_map():
    assert tf.nest.map_structure(lambda x, y: (x, y), {"a": 1}, {"a": 2}) == {"a": (1, 2)}
    assert tf.nest.map_structure(type, Point(1, None)) == Point(int, type(None))
    assert tf.nest.map_structure(lambda x, y: x + y, [1], (2,), check_types=False) == [3]
    with pytest.raises(TypeError, match="function"):
        tf.nest.map_structure(3, [1])


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ([1], 1, ValueError),
        ([1], [1, 2], ValueError),
        ({"a": 1}, {"b": 1}, ValueError),
        ([1], (1,), TypeError),
        ({"a": 1}, [1], TypeError),
        ([{"a": [1]}], [{"a": [1, 2]}], ValueError),
    ],
)
def test_structures_that_differ(first, second, error):
    with pytest.raises(error, match="differ"):
        tf.nest.assert_same_structure(first, second)
    tf.nest.assert_same_structure(first, first)


def test_keys_that_cannot_be_sorted():
    with pytest.raises(TypeError, match="sorts the keys"):
        tf.nest.flatten({1: 0, "a": 0})


def test_a_defaultdict_keeps_its_factory():
    counts = collections.defaultdict(list, b=1, a=2)
    doubled = tf.nest.map_structure(lambda n: 2 * n, counts)
    assert (doubled, doubled["c"]) == ({"b": 2, "a": 4, "c": []}, [])
