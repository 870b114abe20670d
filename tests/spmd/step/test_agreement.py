"""Digests, and what the processes that compare them are told."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.errors import ProcessMismatchError
from spmd.step import agreement


@pytest.fixture
def other_says(monkeypatch, store):
    """Makes another process, the first of two, compare something."""

    def say(topic, digests):
        other = json.dumps([topic, digests])
        store.answer = lambda key, text: (other, text)
        monkeypatch.setattr(jax, "process_index", lambda: 1)

    return say


@pytest.mark.parametrize(
    "others",
    [
        np.array([1, 2], np.int32),
        np.array([1, 3], np.float32),
        np.array([[1, 2]], np.float32),
        np.array([1, 2]).astype(np.float32).tobytes().hex(),
        jax.random.key(0),
    ],
    ids=["type", "value", "shape", "text", "key"],
)
def test_digests_differ_where_anything_does(others):
    assert agreement.digest(np.array([1, 2], np.float32)) != agreement.digest(others)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ("text", "text"),
        (np.ones((2, 3)).T, np.ones((3, 2))),
        (jnp.float32(1), np.float32(1)),
        (jax.random.key(1), jax.random.key(1)),
        (np.array(np.nan), np.array(np.nan)),
    ],
    ids=["text", "layout", "place", "key", "nan"],
)
def test_digests_of_equal_bits_are_equal(one, same):
    assert agreement.digest(one) == agreement.digest(same)


def test_names_what_differs(other_says):
    other_says("the state", {"a": "1", "b": "2"})
    assert agreement.differing("the state", {"a": "1", "b": "3"}) == {"b": ["2", "3"]}


def test_nothing_differs_in_one_process():
    assert agreement.differing("the state", {"a": "1"}) == {}


def test_processes_at_different_places(other_says):
    other_says("step 'eval'", {})
    with pytest.raises(
        ProcessMismatchError,
        match="process 1 compares step 'train', process 0 compares step 'eval'",
    ):
        agreement.differing("step 'train'", {})


def test_what_only_one_has(other_says):
    other_says("the state", {"a": "1", "b": "2"})
    with pytest.raises(ProcessMismatchError, match="only one of them has b, c"):
        agreement.differing("the state", {"a": "1", "c": "2"})


def test_values_of_the_first_process(mesh_of):
    values = [
        jnp.array([[1.5, -0.0]]),
        jnp.array(True),
        jax.random.key(3),
        jnp.zeros((0, 2), jnp.int8),
    ]
    given = agreement.of_first_process(values, mesh_of(2))
    assert [agreement.digest(value) for value in given] == [
        agreement.digest(value) for value in values
    ]
    assert given[2].dtype == values[2].dtype
