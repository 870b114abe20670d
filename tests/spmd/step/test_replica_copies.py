"""Copies of the state: what each replica starts from, and what is made of what they leave, by kind."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.replica import Frame, tracing
from spmd.state import discover
from spmd.step.replica_copies import ReplicaCopies, equal, unplaced
from spmd.topology import layout_of


def copies_of(mesh, *variables):
    """Copies for the replicas of a mesh; and a function that runs code on one of them."""
    table, _ = discover(lambda: None, [(f"v{i}", one) for i, one in enumerate(variables)])
    frame = Frame(mesh, table, lambda masks: None)
    with tracing(frame):
        copies = ReplicaCopies(table, layout_of(mesh))

    def on(replica, code):
        copies.enter(replica)
        result = code()
        copies.leave(replica)
        return result

    return copies, on


@pytest.mark.parametrize(
    ("kind", "before", "entries", "after"),
    [
        ("mirrored", 2.0, [2, 2], None),
        ("mean", 2.0, [2, 2], 3.5),
        ("sum", 2.0, [2, 0], 5),
        ("local", [2.0, 5.0], [2, 5], [3, 7]),
    ],
)
def test_kinds(mesh_of, kind, before, entries, after):
    variable = spmd.Variable(jnp.asarray(before), kind=kind, name="v")
    copies, on = copies_of(mesh_of(2), variable)
    for replica, entry in enumerate(entries):
        assert float(on(replica, lambda: variable._value)) == entry

        def add(replica=replica):
            variable._value = variable._value + 1 + replica

        on(replica, add)
    joined, diverged = copies.join([True, True])
    assert [table.leaf_names[index] for table, index in diverged] == (
        ["v"] if after is None else []
    )
    if after is not None:
        np.testing.assert_allclose(joined[0][0], after)


def test_what_nobody_writes_stays_the_same_array(mesh_of):
    variable = spmd.Variable(jnp.float32(2))
    before = variable._value
    copies, on = copies_of(mesh_of(2), variable)
    arrays = [on(replica, lambda: variable._value) for replica in range(2)]
    # Arrays of their own: a recording tells the variables of replicas apart by them.
    assert len(set(map(id, [before, *arrays]))) == 3
    joined, diverged = copies.join([True, True])
    assert not diverged
    copies.write(joined)
    assert variable._value is before


def test_a_mean_is_of_the_replicas_that_had_rows(mesh_of):
    variable = spmd.Variable(jnp.float32(0), kind="mean")
    copies, on = copies_of(mesh_of(3), variable)
    for replica in range(3):
        on(replica, lambda value=replica: setattr(variable, "_value", jnp.float32(value + 1)))
    assert float(copies.join([True, True, False])[0][0][0]) == 1.5


def test_a_key_is_each_replicas_own_and_stays_if_it_is_left_alone(mesh_of):
    variable = spmd.Variable(jax.random.key(1), kind="key")
    before = variable._value
    copies, on = copies_of(mesh_of(2), variable)
    keys = [on(replica, lambda: variable._value) for replica in range(2)]
    assert not equal(keys)
    assert equal([keys[1], jax.random.fold_in(jax.random.key(1), 1)])
    on(
        0, lambda: setattr(variable, "_value", unplaced(variable._value))
    )  # the same key, handed back
    assert copies.join([True, True])[0][0][0] is before
    on(1, lambda: setattr(variable, "_value", jax.random.key(7)))
    assert copies.join([True, True])[1]


def test_a_variable_that_was_not_found_gets_copies_when_it_is_met(mesh_of):
    other, left = spmd.Variable(jnp.float32(5), kind="sum"), []
    copies, on = copies_of(mesh_of(2))
    copies.adopt(other, 0, lambda: left.append(1))
    copies.adopt(other, 0, lambda: left.append(2))
    for replica in range(2):
        on(replica, lambda: setattr(other, "_value", other._value + 1))
    assert copies.end()
    assert left == [1]
    assert float(other._value) == 5
    copies.write(copies.join([True, True])[0])
    assert float(other._value) == 7


def test_a_variable_of_one_replica_is_what_that_one_wrote(mesh_of):
    other = spmd.Variable(jnp.float32(5))
    copies, on = copies_of(mesh_of(2))
    copies.adopt(other, 1, lambda: None)
    on(1, lambda: setattr(other, "_value", jnp.float32(6)))
    assert float(copies.join([True, True])[0][-1][0]) == 6


@pytest.mark.parametrize(
    "value",
    [np.arange(3), jnp.ones((2,), jnp.bfloat16), jnp.asarray(2.0), jax.random.key(3), np.bool_(1)],
    ids=["numpy", "bfloat16", "weak", "key", "scalar"],
)
def test_copies_go_with_arrays_of_any_device(value):
    copy = unplaced(value)
    assert equal([copy, jnp.asarray(value)])
    assert not copy.committed
    assert getattr(copy, "weak_type", False) == getattr(value, "weak_type", False)
