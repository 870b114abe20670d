"""`spmd.Variable`: what each kind means on several replicas, and where it may be written."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]


def test_a_mirrored_variable_has_one_value(mesh_of: MeshOf) -> None:
    weight = spmd.Variable(jnp.zeros(2))

    def step() -> None:
        weight.value = weight.value + spmd.all_reduce(spmd.replica_id() + 1.0)

    run = spmd.Step(step, mesh_of(4))
    for _ in range(2):
        run()
    assert weight.kind == "mirrored"
    for shard in weight.value.addressable_shards:
        np.testing.assert_array_equal(shard.data, [20.0, 20.0])


def test_a_mirrored_variable_cannot_take_a_replica_s_own_value(mesh_of: MeshOf) -> None:
    weight = spmd.Variable(jnp.zeros(()), name="weight")

    def step() -> None:
        weight.value = weight.value + spmd.replica_id()

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="weight"):
        spmd.Step(step, mesh_of(2))()


@pytest.mark.parametrize("replicas", [1, 4])
def test_a_mean_is_taken_over_replicas(mesh_of: MeshOf, replicas: int) -> None:
    mean = spmd.Variable({"a": jnp.ones(()), "untouched": jnp.full(2, 5.0)}, kind="mean")

    def step() -> None:
        mean.value = {**mean.value, "a": 0.5 * mean.value["a"] + spmd.replica_id()}

    run = spmd.Step(step, mesh_of(replicas))
    expected = 1.0
    for _ in range(3):
        run()
        expected = sum(0.5 * expected + replica for replica in range(replicas)) / replicas
        np.testing.assert_allclose(mean.value["a"], expected, rtol=1e-6)
    np.testing.assert_array_equal(mean.value["untouched"], [5.0, 5.0])


def test_a_mean_is_taken_over_replicas_that_have_rows(mesh_of: MeshOf) -> None:
    mean = spmd.Variable(jnp.zeros(()), kind="mean")

    def step(x: Any) -> None:
        valid = spmd.valid_rows()
        mean.value = jnp.where(valid, x, 0.0).sum() / valid.sum()  # of no rows: NaN

    mesh = mesh_of(4)
    batches = spmd.distribute(np.arange(1.0, 12.0, dtype=np.float32), mesh, batch_size=8)
    run = spmd.Step(step, mesh)
    for batch in batches:
        run(batch)
        blocks = [np.asarray(block) for block in batch]
        expected = np.mean([block.mean() for block in blocks if len(block)])
        np.testing.assert_allclose(mean.value, expected)
    assert [len(block) for block in blocks].count(0) > 0


@pytest.mark.parametrize("replicas", [1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_sum_adds_every_replica_s_part(mesh_of: MeshOf, replicas: int, dtype: Any) -> None:
    total = spmd.Variable((jnp.full((), 10, dtype), [jnp.zeros(2, dtype)]), kind="sum")

    def step() -> None:
        scalar, (vector,) = total.value
        part = (spmd.replica_id() + 1).astype(dtype)
        total.value = (scalar + part, [vector + jnp.stack([part, 2 * part])])

    run = spmd.Step(step, mesh_of(replicas))
    each = sum(range(1, replicas + 1))
    for turn in range(1, 4):
        run()
        scalar, (vector,) = total.value
        assert scalar.dtype == vector.dtype == dtype
        assert int(scalar) == 10 + turn * each
        np.testing.assert_array_equal(vector, [turn * each, 2 * turn * each])


def test_a_sum_that_is_only_read_keeps_its_value(mesh_of: MeshOf) -> None:
    total = spmd.Variable(jnp.full((), 7.0), kind="sum")
    step = spmd.Step(lambda: spmd.all_reduce(total.value), mesh_of(4))
    assert [float(step()), float(step())] == [7.0, 7.0]
    assert float(total.value) == 7.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: jax.random.key(0),
        lambda: jax.random.PRNGKey(0),
        lambda: jax.random.split(jax.random.key(0), 2),
        lambda: {"a": jax.random.key(0)},
    ],
    ids=["typed", "raw", "several", "in a pytree"],
)
def test_every_replica_has_a_key_of_its_own(mesh_of: MeshOf, make: Any) -> None:
    key = spmd.Variable(make(), kind="key")

    def draw() -> Any:
        (mine,) = jax.tree.leaves(key.value)
        several = jnp.issubdtype(mine.dtype, jax.dtypes.prng_key) and mine.ndim
        return jax.random.normal(mine[1] if several else mine, (8,))

    step = spmd.Step(draw, mesh_of(4))
    first, again = (np.stack(step().values) for _ in range(2))
    assert len({row.tobytes() for row in first}) == 4
    # The key stays: who wants other numbers the next time folds a counter into it.
    np.testing.assert_array_equal(first, again)
    for now, before in zip(jax.tree.leaves(key.value), jax.tree.leaves(make()), strict=True):
        assert bool((now == before).all())


def test_a_pytree_may_be_written_as_a_whole(mesh_of: MeshOf) -> None:
    pair = spmd.Variable({"a": jnp.zeros(2), "b": (jnp.ones((), jnp.int32),)})

    def step() -> None:
        old = pair.value
        pair.value = {"a": old["a"] + old["b"][0], "b": (old["b"][0] * 2,)}

    run = spmd.Step(step, mesh_of(2))
    for _ in range(3):
        run()
    np.testing.assert_array_equal(pair.value["a"], [7.0, 7.0])
    assert int(pair.value["b"][0]) == 8


def test_numbers_become_arrays() -> None:
    variable = spmd.Variable([1, 2.5])
    assert [leaf.dtype for leaf in variable.value] == [np.int32, np.float32]
    variable.value = [3, np.float32(4)]
    assert all(isinstance(leaf, jax.Array) for leaf in variable.value)


# Where it may be written.


def write_in_scan(variable: Any) -> None:
    def body(carry: Any, x: Any) -> Any:
        variable.value = variable.value + x
        return carry, x

    jax.lax.scan(body, 0.0, jnp.ones(3))


def write_in_cond(variable: Any) -> None:
    def branch(x: Any) -> Any:
        variable.value = variable.value + x
        return x

    jax.lax.cond(variable.value > 0, branch, lambda x: x, 1.0)


def write_in_while(variable: Any) -> None:
    def body(x: Any) -> Any:
        variable.value = x
        return x + 1

    jax.lax.while_loop(lambda x: x < 3, body, jnp.zeros(()))


def write_in_grad(variable: Any) -> None:
    def loss(x: Any) -> Any:
        variable.value = x
        return x * x

    jax.grad(loss)(1.0)


def write_in_vmap(variable: Any) -> None:
    def row(x: Any) -> Any:
        variable.value = x
        return x

    jax.vmap(row)(jnp.ones(3))


def write_in_jit(variable: Any) -> None:
    @jax.jit
    def function(x: Any) -> Any:
        variable.value = x
        return x

    function(jnp.ones(()))


@pytest.mark.parametrize(
    "write",
    [write_in_scan, write_in_cond, write_in_while, write_in_grad, write_in_vmap, write_in_jit],
)
def test_a_loop_s_own_value_cannot_be_assigned(mesh_of: MeshOf, write: Any) -> None:
    variable = spmd.Variable(jnp.full((), 2.0), name="total")
    step = spmd.Step(lambda: write(variable), mesh_of(2))
    with pytest.raises(spmd.errors.StateError) as error:
        step()
    for part in ("'total'", "loop, branch or other transformation", "assign it outside"):
        assert part in str(error.value)
    assert float(variable.value) == 2.0
    # Outside of a step nobody minds, since it is written with a value that is there.
    variable.value = 3.0
    assert float(variable.value) == 3.0


def test_it_may_be_read_in_a_loop_and_written_after_it(mesh_of: MeshOf) -> None:
    variable = spmd.Variable(jnp.full((), 2.0))

    def step() -> None:
        variable.value = jax.lax.fori_loop(0, 3, lambda i, x: x * variable.value, jnp.ones(()))

    run = spmd.Step(step, mesh_of(2))
    run()
    assert float(variable.value) == 8.0
    run()
    assert float(variable.value) == 512.0


# How it shows.


def test_repr() -> None:
    named = spmd.Variable(jnp.zeros((2, 3)), kind="sum", name="total")
    shown = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    assert repr(named) == f"Variable('total', {shown}, kind='sum')"
    nested = spmd.Variable({"a": 1})
    shown = jax.ShapeDtypeStruct((), jnp.int32)
    assert repr(nested) == f"Variable({ {'a': shown}!r}, kind='mirrored')"


def test_an_unknown_kind_is_refused() -> None:
    kind: Any = "average"
    with pytest.raises(ValueError, match=r"'average' of variable loss.*'mirrored', 'mean'"):
        spmd.Variable(0.0, kind=kind, name="loss")


def test_a_local_variable_has_a_value_for_each_replica(mesh_of):
    local = spmd.Variable(jnp.zeros((2, 3)), kind="local", name="local")
    unread = spmd.Variable(jnp.arange(2.0), kind="local")

    def replica(x):
        assert local.value.shape == (3,)
        local.value += x * (spmd.replica_id() + 1)
        return local.value.sum(), unread.value

    step = spmd.Step(replica, mesh_of(2))
    for turn in (1, 2):
        total, other = step(jnp.float32(1.0))
        assert [float(value) for value in total] == [3.0 * turn, 6.0 * turn]
        assert [float(value) for value in other] == [0.0, 1.0]
    np.testing.assert_array_equal(local.value, [[2.0] * 3, [4.0] * 3])
    local.value = jnp.zeros((2, 3))
    assert [float(value) for value in step(jnp.float32(1.0))[0]] == [3.0, 6.0]
    assert step.trace_count == 1


def test_a_local_variable_of_another_mesh(mesh_of):
    local = spmd.Variable(jnp.zeros(2), kind="local", name="part")
    with pytest.raises(spmd.errors.StateError, match=r"part has a value for each of 2 .*runs on 4"):
        spmd.Step(lambda: local.value, mesh_of(4))()


def test_a_step_that_makes_a_local_variable_sees_its_replica_s_value(mesh_of):
    def step():
        with jax.ensure_compile_time_eval():
            local = spmd.Variable(jnp.array([10.0, 20.0]), kind="local")
        local._made_in_step()
        local.value = local.value + 1
        return spmd.all_reduce(local.value * (spmd.replica_id() + 1))

    assert float(spmd.Step(step, mesh_of(2))()) == 11 + 42
