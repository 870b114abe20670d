"""The proof that replicas stay equal: what it must refuse, and what it must let through.

Each case writes one mirrored variable inside a step. `VARYING` values differ between replicas, whatever
they are wrapped in; `EQUAL` ones do not. Where a step passes, its result is read from every device, so a
hole in the proof shows as copies that differ.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.experimental import io_callback
from jax.sharding import Mesh

import spmd
from spmd.proof.dataflow import collectives, depends_on, varying_outputs

MeshOf = Callable[[int], Mesh]
R = "replica"
HERE = __file__


def first_batch(mesh: Mesh) -> Any:
    rows = np.arange(1.0, 13.0, dtype=np.float32).reshape(4, 3)
    return next(iter(spmd.distribute(rows, mesh, batch_size=4, prefetch=0)))


def write(mesh: Mesh, value: Callable[[Any, Any], Any]) -> list[float]:
    """Writes `value(rows, old value)` to a mirrored variable; returns every device's copy."""
    variable = spmd.Variable(jnp.ones(()), name="weight")

    def step(x: Any) -> None:
        variable.value = value(x, variable.value)

    spmd.Step(step, mesh)(first_batch(mesh))
    return [float(shard.data) for shard in variable.value.addressable_shards]


def custom_vjp(x: Any) -> Any:
    @jax.custom_vjp
    def function(x: Any) -> Any:
        return x * 2

    function.defvjp(lambda x: (x * 2, x), lambda saved, ct: (ct * saved,))
    return function(x)


def custom_jvp(x: Any) -> Any:
    @jax.custom_jvp
    def function(x: Any) -> Any:
        return x * 2

    function.defjvp(lambda primals, tangents: (function(*primals), tangents[0] * 2))
    return function(x)


def through_reference(x: Any) -> Any:
    cell = jax.new_ref(jnp.zeros(()))
    cell[...] = x
    return cell[...]


def added_to_reference_in_scan(x: Any) -> Any:
    cell = jax.new_ref(jnp.zeros(()))

    def body(carry: Any, row: Any) -> Any:
        cell[...] += row
        return carry, None

    jax.lax.scan(body, 0, jnp.stack([x, x]))
    return cell[...]


def through_reference_in_jit(x: Any) -> Any:
    cell = jax.new_ref(jnp.zeros(()))

    @jax.jit
    def fill(cell: Any, x: Any) -> None:
        cell[...] = x

    fill(cell, x)
    return cell[...]


# Each takes a scalar, and gives one that depends on it.
WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda x: x + 1,
    "jit": lambda x: jax.jit(lambda y: y + 1)(x),
    "closed over by jit": lambda x: jax.jit(lambda: x + 1)(),
    "remat": lambda x: jax.checkpoint(lambda y: jnp.sin(y))(x),
    "gradient of remat": lambda x: jax.grad(jax.checkpoint(lambda y: jnp.sin(y)))(x),
    "custom_vjp": custom_vjp,
    "gradient of custom_vjp": lambda x: jax.grad(custom_vjp)(x),
    "custom_jvp": custom_jvp,
    "gradient of custom_jvp": lambda x: jax.grad(lambda y: custom_jvp(y) * y)(x),
    "scan carry": lambda x: jax.lax.scan(lambda c, _: (c + x, None), 0.0, None, length=3)[0],
    "scan input": lambda x: jax.lax.scan(lambda c, y: (c + y, None), 0.0, x[None])[0],
    "scan output": lambda x: jax.lax.scan(lambda c, _: (c, x), 0.0, None, length=3)[1].sum(),
    "scan, three turns late": lambda x: jax.lax.scan(
        lambda c, _: ((c[1], c[2], x), None), (0.0, 0.0, 0.0), None, length=3
    )[0][0],
    "while body": lambda x: jax.lax.while_loop(lambda c: c < 5.0, lambda c: c + jnp.abs(x), 0.0),
    "while condition": lambda x: jax.lax.while_loop(lambda c: c < x, lambda c: c + 1.0, 0.0),
    "while condition, one turn late": lambda x: jax.lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + c[1], x), (0.0, 1.0)
    )[0],
    "other carry of a while with a varying condition": lambda x: jax.lax.while_loop(
        lambda c: c[0] < x, lambda c: (c[0] + 1, c[1] + 1), (0.0, 0.0)
    )[1],
    "fori body": lambda x: jax.lax.fori_loop(0, 3, lambda _, c: c + x, 0.0),
    "fori bound": lambda x: jax.lax.fori_loop(0, x.astype(int), lambda _, c: c + 1.0, 0.0),
    "cond branch": lambda x: jax.lax.cond(jnp.array(True), lambda: x, lambda: 0.0),
    "cond predicate": lambda x: jax.lax.cond(x > 8, lambda: 1.0, lambda: 0.0),
    "switch index": lambda x: jax.lax.switch(x.astype(int) % 2, [lambda: 0.0, lambda: 1.0]),
    "map": lambda x: jax.lax.map(lambda y: y * x, jnp.ones(2)).sum(),
    "vmap": lambda x: jax.vmap(lambda y: y * x)(jnp.ones(2)).sum(),
    "associative_scan": lambda x: jax.lax.associative_scan(jnp.add, jnp.stack([x, x]))[-1],
    "solve": lambda x: jnp.linalg.solve(jnp.eye(2) * x, jnp.ones(2)).sum(),
    "sort": lambda x: jnp.sort(jnp.stack([x, -x]))[0],
    "where": lambda x: jnp.where(x > 8, 1.0, 0.0),
    "scatter": lambda x: jnp.zeros(3).at[1].set(x).sum(),
    "index": lambda x: jnp.arange(30.0)[x.astype(int)],
    "random key": lambda x: jax.random.normal(jax.random.fold_in(jax.random.key(0), x.astype(int))),
    "pure_callback": lambda x: jax.pure_callback(
        lambda y: np.float32(y), jax.ShapeDtypeStruct((), jnp.float32), x
    ),
    "reference": through_reference,
    "reference in a scan": added_to_reference_in_scan,
    "reference in a jit": through_reference_in_jit,
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_replicas_own_value_is_refused_through(mesh_of: MeshOf, wrapper: str) -> None:
    wrap = WRAPPERS[wrapper]
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="weight"):
        write(mesh_of(2), lambda x, old: old * 0 + wrap(x.sum()))


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_reduced_value_passes_through(mesh_of: MeshOf, wrapper: str) -> None:
    wrap = WRAPPERS[wrapper]
    copies = write(mesh_of(2), lambda x, old: old * 0 + wrap(spmd.all_reduce(x.sum()) / 16))
    assert len(copies) == 2
    assert copies[0] == copies[1]


# Values made by collectives and by what a replica knows of itself, from rows x.
VARYING: dict[str, Callable[[Any], Any]] = {
    "replica_id": lambda x: spmd.replica_id() * 1.0,
    "axis_index": lambda x: jax.lax.axis_index(R) * 1.0,
    "ppermute": lambda x: jax.lax.ppermute(x.sum(), R, [(0, 1), (1, 0)]),
    "ppermute of an equal value": lambda x: jax.lax.ppermute(jnp.ones(()), R, [(0, 1)]),
    "all_to_all": lambda x: jax.lax.all_to_all(x[:2], R, 0, 0).sum(),
    "all_to_all of an equal value": lambda x: jax.lax.all_to_all(jnp.arange(2.0), R, 0, 0)[0],
    "psum_scatter": lambda x: jax.lax.psum_scatter(x[0, :2], R, tiled=True).sum(),
    "psum_scatter of an equal value": lambda x: jax.lax.psum_scatter(jnp.arange(2.0), R),
    "psum over groups": lambda x: jax.lax.psum(x.sum(), R, axis_index_groups=[[0], [1]]),
    "all_gather over groups": lambda x: jax.lax.all_gather(
        x.sum(), R, axis_index_groups=[[0], [1]]
    )[0],
    "pmax over groups": lambda x: jax.lax.pmax(x.sum(), R, axis_index_groups=[[0], [1]]),
    "own part of an all_gather": lambda x: jax.lax.all_gather(x.sum(), R)[spmd.replica_id()],
    "psum over another axis": lambda x: jax.vmap(
        lambda row: jax.lax.psum(row.sum(), "i"), axis_name="i"
    )(x)[0],
    "psum over another axis of this name": lambda x: jax.vmap(
        lambda row: jax.lax.psum(row.sum(), R), axis_name=R
    )(x)[0],
    "io_callback": lambda x: io_callback(
        lambda: np.float32(1), jax.ShapeDtypeStruct((), jnp.float32)
    ),
    "gradient": lambda x: jax.grad(lambda w: (w * x).sum())(jnp.ones(())),
    "gradient of a reduced loss": lambda x: jax.grad(lambda w: spmd.all_reduce((w * x).sum()))(
        jnp.ones(())
    ),
    "reduced, then spoiled": lambda x: spmd.all_reduce(x.sum()) + x[0, 0],
}


@pytest.mark.parametrize("name", VARYING)
def test_it_refuses(mesh_of: MeshOf, name: str) -> None:
    make = VARYING[name]
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="weight"):
        write(mesh_of(2), lambda x, old: old + make(x))


# With x as above on two replicas: sums of rows are 21 and 57.
EQUAL: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "old value": (lambda x, old: old * 3, 3.0),
    "constant": (lambda x, old: jnp.full((), 7.0), 7.0),
    "constant random key": (lambda x, old: jax.random.key_data(jax.random.key(5))[1] * 1.0, 5.0),
    "all_reduce": (lambda x, old: spmd.all_reduce(x.sum()), 78.0),
    "all_reduce mean": (lambda x, old: spmd.all_reduce(x.sum(), "mean"), 39.0),
    "all_reduce max": (lambda x, old: spmd.all_reduce(x.sum(), "max"), 57.0),
    "all_reduce min": (lambda x, old: spmd.all_reduce(x.sum(), "min"), 21.0),
    "all_reduce of an int": (lambda x, old: spmd.all_reduce(1) * 1.0, 2.0),
    "all_gather": (lambda x, old: spmd.replica.all_gather(x.sum()[None])[0], 21.0),
    "broadcast": (lambda x, old: spmd.replica.broadcast(x.sum(), 1), 57.0),
    "psum in vmap": (lambda x, old: jax.vmap(lambda r: jax.lax.psum(r.sum(), R))(x).sum(), 78.0),
    "psum over both axes": (
        lambda x, old: jax.vmap(lambda r: jax.lax.psum(r.sum(), (R, "i")), axis_name="i")(x)[0],
        78.0,
    ),
    "psum in a scan": (
        lambda x, old: jax.lax.scan(lambda c, r: (c + spmd.all_reduce(r.sum()), None), 0.0, x)[0],
        78.0,
    ),
    "psum in a while with an equal condition": (
        lambda x, old: jax.lax.while_loop(
            lambda c: c < spmd.all_reduce(x.sum()), lambda c: c + spmd.all_reduce(x.sum()), 0.0
        ),
        78.0,
    ),
    "psum in a branch with an equal predicate": (
        lambda x, old: jax.lax.cond(
            spmd.all_reduce(x.sum()) > 0, lambda: spmd.all_reduce(x.sum()), lambda: 0.0
        ),
        78.0,
    ),
    "psum in jit": (lambda x, old: jax.jit(lambda y: spmd.all_reduce(y.sum()))(x), 78.0),
    "psum in remat": (lambda x, old: jax.checkpoint(lambda y: spmd.all_reduce(y.sum()))(x), 78.0),
    "solve": (lambda x, old: jnp.linalg.solve(jnp.eye(2) * 2 * old, jnp.ones(2)).sum(), 1.0),
    "two outputs of a jit, one of them equal": (
        lambda x, old: jax.jit(lambda a, b: (a * 2, b * 2))(old, x.sum())[0],
        2.0,
    ),
    "two carries of a scan, one of them equal": (
        lambda x, old: jax.lax.scan(lambda c, r: ((c[0] + 1, c[1] + r.sum()), None), (0.0, 0.0), x)[
            0
        ][0],
        2.0,
    ),
}


@pytest.mark.parametrize("name", EQUAL)
def test_it_lets_through(mesh_of: MeshOf, name: str) -> None:
    value, expected = EQUAL[name]
    copies = write(mesh_of(2), value)
    np.testing.assert_allclose(copies, [expected, expected], rtol=1e-6)


STRANDED: dict[str, Callable[[Any], Any]] = {
    "branch": lambda x: jax.lax.cond(x.sum() > 30, lambda: spmd.all_reduce(x.sum()), lambda: 0.0),
    "branch, in a jit": lambda x: jax.lax.cond(
        x.sum() > 30, lambda: jax.jit(lambda: spmd.all_reduce(x.sum()))(), lambda: 0.0
    ),
    "branch, in a scan": lambda x: jax.lax.scan(
        lambda c, r: (
            jax.lax.cond(r.sum() > 30, lambda: spmd.all_reduce(r.sum()), lambda: 0.0),
            None,
        ),
        0.0,
        x,
    )[0],
    "branch of a branch": lambda x: jax.lax.cond(
        x.sum() > 30,
        lambda: jax.lax.cond(True, lambda: spmd.all_reduce(x.sum()), lambda: 0.0),
        lambda: 0.0,
    ),
    "switch": lambda x: jax.lax.switch(
        spmd.replica_id(), [lambda: spmd.all_reduce(x.sum()), lambda: 0.0]
    ),
    "loop body": lambda x: jax.lax.while_loop(
        lambda c: c < x.sum(), lambda c: c + spmd.all_reduce(x.sum()), 0.0
    ),
    "loop condition": lambda x: jax.lax.while_loop(
        lambda c: spmd.all_reduce(c) < x.sum(), lambda c: c + 100.0, 0.0
    ),
    "exchange in a branch": lambda x: jax.lax.cond(
        x.sum() > 30, lambda: jax.lax.ppermute(x.sum(), R, [(0, 1)]), lambda: 0.0
    ),
    "gather in a branch": lambda x: jax.lax.cond(
        x.sum() > 30, lambda: spmd.replica.all_gather(x).sum(), lambda: 0.0
    ),
    "sum inside apply_if_finite": lambda x: (
        optax.apply_if_finite(optax.chain(spmd.sum_over_replicas(), optax.sgd(0.1)), 3)
    ).update(
        x.sum(),
        optax.apply_if_finite(optax.sgd(0.1), 3)
        .init(jnp.ones(()))
        ._replace(
            inner_state=optax.chain(spmd.sum_over_replicas(), optax.sgd(0.1)).init(jnp.ones(()))
        ),
    )[0],
}


@pytest.mark.parametrize("name", STRANDED)
def test_a_collective_that_only_some_replicas_reach_is_refused(mesh_of: MeshOf, name: str) -> None:
    make = STRANDED[name]
    step = spmd.Step(lambda x: make(x), mesh_of(2))
    with pytest.raises(spmd.errors.ReplicaDivergenceError) as error:
        step.lower(first_batch(step.mesh))
    assert "collective" in str(error.value)
    assert "spmd.all_reduce(condition" in str(error.value)


def test_a_collective_in_a_branch_that_varies_late_is_refused(mesh_of: MeshOf) -> None:
    # The predicate is equal in the first turn, and varies from the second on.
    def body(carry: Any, row: Any) -> Any:
        total = jax.lax.cond(carry > 0, lambda: spmd.all_reduce(row.sum()), lambda: 0.0)
        return row.sum(), total

    step = spmd.Step(lambda x: jax.lax.scan(body, 0.0, x)[1], mesh_of(2))
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="branch at"):
        step.lower(first_batch(step.mesh))


def test_forgetting_the_sum_names_the_parameter_the_line_and_the_fix(mesh_of: MeshOf) -> None:
    tx = optax.adam(1e-2)
    weights = spmd.Variable({"kernel": jnp.ones(3), "bias": jnp.ones(())}, name="weights")
    state = spmd.Variable(tx.init(weights.value), name="state")

    def train(x: Any) -> None:
        def loss(w: Any) -> Any:
            return spmd.average_loss(x @ w["kernel"] + w["bias"])

        gradients = jax.grad(loss)(weights.value)
        updates, state.value = tx.update(gradients, state.value)
        weights.value = optax.apply_updates(weights.value, updates)

    with pytest.raises(spmd.errors.ReplicaDivergenceError) as error:
        spmd.Step(train, mesh_of(2))(first_batch(mesh_of(2)))
    message = str(error.value)
    assert "train" in message
    assert "weights['" in message
    first = train.__code__.co_firstlineno
    lines = [f"{HERE}:{line} " for line in range(first, first + 9)]
    assert any(line in message for line in lines), message
    assert "optax.chain(spmd.sum_over_replicas(), " in message


def test_the_error_names_only_what_differs(mesh_of: MeshOf) -> None:
    pair = spmd.Variable({"good": jnp.ones(()), "bad": jnp.ones(())}, name="pair")

    def step(x: Any) -> None:
        pair.value = {"good": spmd.all_reduce(x.sum()), "bad": x.sum()}

    with pytest.raises(spmd.errors.ReplicaDivergenceError) as error:
        spmd.Step(step, mesh_of(2))(first_batch(mesh_of(2)))
    assert "pair['bad']" in str(error.value)
    assert "good" not in str(error.value)


def test_a_draw_from_a_key_differs_between_replicas(mesh_of: MeshOf) -> None:
    key = spmd.Variable(jax.random.key(0), kind="key", name="noise")
    weight = spmd.Variable(jnp.zeros(2), name="weight")

    def step() -> None:
        weight.value = jax.random.normal(key.value, (2,))

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="weight"):
        spmd.Step(step, mesh_of(2))()


@pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey])
def test_a_key_must_not_be_replaced_in_a_replica(
    mesh_of: MeshOf, make: Callable[[int], Any]
) -> None:
    key = spmd.Variable(make(0), kind="key", name="noise")

    def step() -> None:
        key.value = jax.random.split(key.value)[0]

    with pytest.raises(spmd.errors.ReplicaDivergenceError, match=r"noise.*random key"):
        spmd.Step(step, mesh_of(2))()


def test_one_replica_cannot_differ_from_itself(mesh_of: MeshOf) -> None:
    # Rows: 1 to 12.
    assert write(mesh_of(1), lambda x, old: x.sum()) == [78.0]


def test_a_value_smuggled_out_of_a_replica_is_refused(mesh_of: MeshOf) -> None:
    smuggled: list[Any] = []

    def program(x: Any) -> Any:
        spmd.run(lambda rows: smuggled.append(rows.sum()), x)
        return smuggled[-1]

    step = spmd.step.CrossReplicaStep(program, mesh_of(2))
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="back door"):
        step(first_batch(step.mesh))


# The functions by themselves, on jaxprs.


def jaxpr_of(function: Callable[..., Any], *args: Any) -> Any:
    return jax.make_jaxpr(function, axis_env=[(R, 2)])(*args).jaxpr


def test_varying_outputs_follows_each_output_by_itself() -> None:
    jaxpr = jaxpr_of(lambda a, b: (a * 2, b * 2, a + b, jax.lax.psum(b, R)), 1.0, 1.0)
    assert varying_outputs(jaxpr, [False, True], [R]) == [False, True, True, False]
    assert varying_outputs(jaxpr, [False, False], [R]) == [False] * 4


def test_depends_on_goes_through_collectives() -> None:
    jaxpr = jaxpr_of(lambda a, b: (jax.lax.psum(a, R), jax.lax.psum(b, R), 1.0), 1.0, 1.0)
    assert depends_on(jaxpr, [True, False]) == [True, False, False]


def test_collectives_are_listed_with_what_travels() -> None:
    def function(a: Any, b: Any) -> Any:
        def body(carry: Any, row: Any) -> Any:
            return carry + jax.lax.pmax(row, R), None

        total = jax.lax.scan(body, jnp.zeros(3), a)[0]
        return jax.lax.psum((total, b), R), jax.lax.all_gather(b, R)

    jaxpr = jaxpr_of(function, jnp.ones((4, 3)), jnp.ones(5, jnp.bfloat16))
    found = [(c.name, c.operands, c.bytes) for c in collectives(jaxpr)]
    assert ("pmax", ("float32[3]",), 12) in found
    assert ("all_gather", ("bfloat16[5]",), 10) in found
    assert sum(size for name, _, size in found if name.startswith("psum")) == 22
    lines = range(function.__code__.co_firstlineno, function.__code__.co_firstlineno + 7)
    for collective in collectives(jaxpr):
        assert collective.line is not None
        assert any(f"{HERE}:{line} " in collective.line for line in lines)
