"""The graph has every object once, and every way that leads to it."""

import jax.numpy as jnp

from spmd import Variable
from spmd.checkpoint import Checkpoint
from spmd.checkpoint.graph import join, walk


def test_a_shared_object_is_found_once_by_its_shortest_path():
    shared = Variable(jnp.ones(2))
    objects = walk(Checkpoint(deep={"list": [shared]}, short=shared))
    assert [obj.path for obj in objects] == ["", "deep", "short", "deep/list"]
    short = objects.index(next(obj for obj in objects if obj.path == "short"))
    assert objects[3].children == {"0": short}


def test_equal_plain_values_are_found_one_by_one():
    zero = 0
    assert [obj.path for obj in walk(Checkpoint(a=zero, b=zero))] == ["", "a", "b"]


def test_slashes_in_names_are_escaped():
    assert join("", "a/b") == "a.Sb"
    assert join("x", "a.Sb") == "x/a..Sb"
