"""Steps that padding would falsify, on replicas with different numbers of rows: what one replica computes."""

import logging
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]

ROWS = np.random.default_rng(0).normal(size=(48, 3)).astype(np.float32)


def batches(rows: int, mesh: Mesh, size: int) -> list[Any]:
    return list(spmd.distribute(ROWS[:rows], mesh, batch_size=size, prefetch=0))


def counting_step(mesh: Mesh) -> tuple[Any, Any, Any]:
    """A step that sums rows and counts them, and the weights and the metric that it writes."""
    weights = spmd.Variable(jnp.ones(3), name="weights")
    metric = spmd.Variable(jnp.zeros(2), kind="sum", name="metric")

    def train(x: Any) -> Any:
        def loss(weights: Any) -> Any:
            return ((x @ weights - 1) ** 2).sum()

        value, gradient = jax.value_and_grad(loss)(weights.value)
        rows = spmd.all_reduce(x.shape[0])
        weights.value = weights.value - 0.1 * spmd.all_reduce(gradient) / rows
        metric.value = metric.value + jnp.stack([x.sum(), jnp.float32(x.shape[0])])
        return spmd.all_reduce(value) / rows, x * 2

    return spmd.Step(train, mesh), weights, metric


@pytest.mark.parametrize("replicas", [1, 2, 4, pytest.param(8, marks=pytest.mark.slow)])
def test_every_remainder_gives_what_one_replica_gives(mesh_of: MeshOf, replicas: int) -> None:
    size = 2 * replicas
    step, weights, metric = counting_step(mesh_of(replicas))
    for rest in range(1, size):
        weights.value, metric.value = jnp.ones(3), jnp.zeros(2)
        expected = np.ones(3, np.float32)
        with warnings.catch_warnings():
            # All remainders in one epoch are not what anybody trains with.
            warnings.simplefilter("ignore", spmd.errors.RecompilationWarning)
            results = [step(batch) for batch in batches(size + rest, step.mesh, size)]
        for rows, (loss, doubled) in zip(
            (ROWS[:size], ROWS[size : size + rest]), results, strict=True
        ):
            np.testing.assert_allclose(loss, ((rows @ expected - 1) ** 2).mean(), rtol=1e-4)
            expected -= 0.1 * rows.T @ (2 * (rows @ expected - 1)) / len(rows)
            np.testing.assert_allclose(np.concatenate(doubled.values), 2 * rows)
        np.testing.assert_allclose(weights.value, expected, rtol=1e-4)
        whole = ROWS[: size + rest]
        np.testing.assert_allclose(metric.value, [whole.sum(), len(whole)], rtol=1e-4)
        assert step.trace_count == 1 + rest, "one more program for each remainder"
        assert step.explain().path == ("unequal" if rest % replicas else "exact")


def test_a_program_is_found_again(mesh_of: MeshOf) -> None:
    step, _, metric = counting_step(mesh_of(4))
    for _ in range(3):
        for batch in batches(13, step.mesh, 8):
            step(batch)
    assert step.trace_count == 2
    assert float(metric.value[1]) == 39


def test_counting_alone_is_found(mesh_of: MeshOf) -> None:
    """Nothing here depends on a row, or on a mask: only on how many there are."""
    ways: list[Callable[[Any], Any]] = [
        lambda x: x.shape[0],
        lambda x: jnp.ones_like(x[:, 0]).sum(),
        lambda x: jax.lax.scan(lambda n, row: (n + 1, row), 0, x)[0],
        lambda x: jnp.array(x.shape)[0],
        lambda x: jnp.arange(x.shape[0])[-1] + 1,
    ]
    for way in ways:
        step = spmd.Step(lambda x, way=way: spmd.all_reduce(way(x)), mesh_of(4))
        assert [int(step(batch)) for batch in batches(15, step.mesh, 8)] == [8, 7]


def test_a_masked_loss_beside_a_count_is_no_proof(mesh_of: MeshOf) -> None:
    def train(x: Any) -> Any:
        mean = spmd.average_loss(x[:, 0])
        return spmd.all_reduce(mean) * spmd.all_reduce(x.shape[0])

    step = spmd.Step(train, mesh_of(4))
    found = [float(step(batch)) for batch in batches(13, step.mesh, 8)]
    np.testing.assert_allclose(found, [ROWS[:8, 0].sum(), ROWS[8:13, 0].sum()], rtol=1e-5)


def test_masked_steps_stay_masked(mesh_of: MeshOf) -> None:
    model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)

    def train(x: Any) -> Any:
        def loss(model: Any) -> Any:
            return spmd.average_loss((model(x)[:, 0] - 1) ** 2)

        value, gradients = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradients)
        return spmd.all_reduce(value), model(x)

    step = spmd.Step(train, mesh_of(4))
    for batch in batches(13, step.mesh, 8):
        step(batch)
    assert step.explain().path == "masked"
    assert step.trace_count == 1


def test_state_of_every_kind(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    norm = nnx.BatchNorm(3, momentum=0.0, rngs=nnx.Rngs(0))
    drop = nnx.Dropout(0.5, rngs=nnx.Rngs(dropout=0))
    own = spmd.Variable(jnp.zeros((4, 2)), kind="local", name="own")
    seen = spmd.Variable(jnp.zeros(()), kind="sum", name="seen")

    def train(x: Any) -> Any:
        seen.value = seen.value + x.shape[0]
        own.value = own.value + jnp.stack([x.sum(), jnp.float32(x.shape[0])])
        return norm(x).shape, drop(jnp.ones(64))

    step = spmd.Step(train, mesh)
    _, partial = batches(13, mesh, 8)  # two rows, two, one and none
    _, first = step(partial)
    _, second = step(partial)
    rows = ROWS[8:13]
    assert float(seen.value) == 10
    blocks = [rows[:2], rows[2:4], rows[4:]]
    np.testing.assert_allclose(
        norm.mean[...], np.mean([block.mean(0) for block in blocks], 0), rtol=1e-5
    )
    expected = [[2 * block.sum(), 2 * len(block)] for block in [*blocks, rows[:0]]]
    np.testing.assert_allclose(own.value, expected, rtol=1e-5)
    draws = {value.tobytes() for result in (first, second) for value in map(np.asarray, result)}
    assert len(draws) == 8, "every replica draws anew at every step"
    assert step.explain().path == "unequal"


def test_random_numbers_are_those_of_the_other_programs(mesh_of: MeshOf) -> None:
    def draws(counts: bool) -> list[Any]:
        drop = nnx.Dropout(0.5, rngs=nnx.Rngs(dropout=3))
        step = spmd.Step(lambda x: (drop(jnp.ones(16)), x.shape[0] if counts else 0), mesh_of(4))
        _, partial = batches(13, step.mesh, 8)
        return [np.asarray(value) for value in step(partial)[0]]

    np.testing.assert_array_equal(draws(counts=True), draws(counts=False))


def test_replicas_without_rows_have_no_mean(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x: (x.mean(), x.sum()), mesh_of(4))
    mean, total = step(batches(9, step.mesh, 8)[1])
    assert [bool(np.isnan(value)) for value in mean] == [False, True, True, True]
    np.testing.assert_allclose(total.values, [ROWS[8].sum(), 0, 0, 0], rtol=1e-6)


def test_results_are_as_long_as_replicas_have_rows(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x: (x.reshape(-1), x.T @ x), mesh_of(2), keep_per_replica=True)
    flat, products = step(batches(7, step.mesh, 4)[1])
    assert [value.shape for value in flat] == [(6,), (3,)]
    np.testing.assert_allclose(np.concatenate(flat.values), ROWS[4:7].reshape(-1))
    np.testing.assert_allclose(products[1], np.outer(ROWS[6], ROWS[6]), rtol=1e-6)
    np.testing.assert_allclose(spmd.gather(flat), ROWS[4:7].reshape(-1))


def test_rows_of_all_replicas(mesh_of: MeshOf) -> None:
    """Each replica compares its rows with those of all, as contrastive losses do."""
    weight = spmd.Variable(jnp.ones(3), name="weight")

    def train(x: Any) -> Any:
        def loss(weight: Any) -> Any:
            every = spmd.replica.all_gather(x * weight)
            return (x @ every.T).sum() / every.shape[0]

        value, gradient = jax.value_and_grad(loss)(weight.value)
        weight.value = weight.value - 0.1 * spmd.all_reduce(gradient)
        return spmd.all_reduce(value)

    step = spmd.Step(train, mesh_of(4))
    found = float(step(batches(13, step.mesh, 8)[1]))
    rows = jnp.asarray(ROWS[8:13])
    value, gradient = jax.value_and_grad(lambda w: (rows @ (rows * w).T).sum() / 5)(jnp.ones(3))
    np.testing.assert_allclose(found, value, rtol=1e-4)
    np.testing.assert_allclose(weight.value, 1 - 0.1 * gradient, rtol=1e-4)


def test_a_step_between_the_replicas(mesh_of: MeshOf) -> None:
    def program(batch: Any) -> Any:
        sums, counts = spmd.run(lambda x: (x.sum(), jnp.float32(x.shape[0])), batch)
        return spmd.reduce(sums) / spmd.reduce(counts), spmd.gather(batch)

    step = spmd.step.CrossReplicaStep(program, mesh_of(4))
    mean, rows = step(batches(13, step.mesh, 8)[1])
    np.testing.assert_allclose(mean, ROWS[8:13].sum() / 5, rtol=1e-5)
    np.testing.assert_array_equal(rows, ROWS[8:13])


def test_batches_with_other_rows(mesh_of: MeshOf) -> None:
    step = spmd.Step(
        lambda a, b: (spmd.all_reduce(a.sum() - b.sum()), a.shape[0], b.shape[0]), mesh_of(4)
    )
    difference, first, second = step(batches(15, step.mesh, 8)[1], batches(17, step.mesh, 12)[1])
    np.testing.assert_allclose(difference, ROWS[8:15].sum() - ROWS[12:17].sum(), rtol=1e-4)
    assert [int(value) for value in first] == [2, 2, 2, 1]
    assert [int(value) for value in second] == [2, 2, 1, 0]


def test_state_that_would_differ_is_refused(mesh_of: MeshOf) -> None:
    rows = spmd.Variable(jnp.zeros(()), name="rows")

    def train(x: Any) -> None:
        rows.value = jnp.float32(x.shape[0])

    step = spmd.Step(train, mesh_of(2))
    full, partial = batches(7, step.mesh, 4)
    step(full)
    assert float(rows.value) == 2
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="would leave rows with"):
        step(partial)
    assert float(rows.value) == 2


def test_collectives_that_only_some_would_reach_are_refused(mesh_of: MeshOf) -> None:
    def train(x: Any) -> Any:
        return x.sum() if x.shape[0] == 1 else spmd.all_reduce(x.sum())

    step = spmd.Step(train, mesh_of(2))
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="do not come together"):
        step(batches(7, step.mesh, 4)[1])


def test_a_step_that_cannot_do_without_rows_says_so(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x: x.max(), mesh_of(4))
    with pytest.raises(spmd.errors.PaddedBatchError, match="traced for a replica with 0 rows"):
        step(batches(9, step.mesh, 8)[1])


def test_what_only_may_count_padding_runs_masked_if_there_is_no_other_way(
    mesh_of: MeshOf, caplog: pytest.LogCaptureFixture
) -> None:
    def last_position(x: Any) -> Any:
        return spmd.all_reduce(jnp.arange(x.shape[0])[-1])  # of no rows there is none

    step = spmd.Step(last_position, mesh_of(4))
    assert int(step(batches(13, step.mesh, 8)[1])) == 4
    assert step.explain().path == "masked"
    (record,) = [one for one in caplog.records if one.name == "spmd.step"]
    assert "may count" in record.getMessage()
    assert "traced for a replica with 0 rows" in record.getMessage()


def test_results_that_do_not_fit_together_are_refused(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x: x @ x.T, mesh_of(2))
    with pytest.raises(spmd.errors.PaddedBatchError, match=r"\(2, 2\), \(1, 1\)"):
        step(batches(7, step.mesh, 4)[1])


def test_it_is_said_once(mesh_of: MeshOf, caplog: pytest.LogCaptureFixture) -> None:
    step, _, _ = counting_step(mesh_of(2))
    with caplog.at_level(logging.INFO, "spmd.step"):
        for batch in batches(7, step.mesh, 4) * 2:
            step(batch)
    (record,) = [one for one in caplog.records if one.name == "spmd.step"]
    assert "got [2, 1] rows on its replicas" in record.getMessage()
