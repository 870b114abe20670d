"""Padding that counts is found at the first padded batch; batches that divide evenly need none."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import spmd
from spmd.step import padding

ROWS = np.arange(1.0, 13.0, dtype=np.float32).reshape(6, 2)


def batches(mesh, rows, size=4):
    return list(spmd.distribute(ROWS[:rows], mesh, batch_size=size, prefetch=0))


def trained(step, weight):
    """A step that sums the gradients of a weight."""

    def train(x):
        gradient = jax.grad(lambda value: step(x, value))(weight.value)
        weight.value = weight.value - 0.1 * spmd.all_reduce(gradient)

    return train


def half_masked(x, value):
    losses = (x @ value) ** 2
    return spmd.average_loss(losses) + (losses * 0.5).sum()


def test_a_second_loss_that_counts_padding_gets_the_rows_that_there_are(mesh_of):
    weight = spmd.Variable(jnp.ones(2), name="weight")
    step = spmd.Step(trained(half_masked, weight), mesh_of(2))
    (partial,) = batches(mesh_of(2), 5, size=6)
    step(partial)
    rows = ROWS[:5]
    gradient = jax.grad(
        lambda value: ((rows @ value) ** 2).mean() + ((rows @ value) ** 2).sum() / 2
    )(jnp.ones(2))
    np.testing.assert_allclose(weight.value, 1 - 0.1 * gradient, rtol=1e-5)
    assert "some places only: it counts in weight" in step.explain().why


def test_what_a_compiled_program_refuses_has_changed_nothing(mesh_of):
    weight = spmd.Variable(jnp.ones(2), name="weight")
    step = spmd.Step(trained(half_masked, weight), mesh_of(2))
    (batch,) = batches(mesh_of(2), 5, size=6)
    held = weight.value
    with pytest.raises(spmd.errors.PaddedBatchError, match="some places only: it counts in weight"):
        step.lower(batch).compile()(batch)
    np.testing.assert_array_equal(weight.value, [1.0, 1.0])
    np.testing.assert_array_equal(held, [1.0, 1.0])


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_masked_steps_are_tried_once_and_go_on(mesh_of, replicas):
    calls = []
    weight = spmd.Variable(jnp.ones(2), name="weight")

    def masked(x, value):
        calls.append(1)
        return spmd.average_loss((x @ value) ** 2)

    step = spmd.Step(trained(masked, weight), mesh_of(replicas))
    alone = spmd.Variable(jnp.ones(2), name="alone")
    for batch in batches(mesh_of(replicas), 6) * 2:
        step(batch)
    for rows in (ROWS[:4], ROWS[4:]) * 2:
        gradient = jax.grad(lambda value, rows=rows: ((rows @ value) ** 2).mean())(alone.value)
        alone.value = alone.value - 0.1 * gradient
    np.testing.assert_allclose(weight.value, alone.value, rtol=1e-6)
    assert step.trace_count == 1


def test_a_plain_mean_over_equal_shares_needs_no_padding(mesh_of):
    mean = spmd.Step(lambda x: spmd.all_reduce(x.mean(), "mean"), mesh_of(2))
    found = [float(mean(batch)) for batch in batches(mesh_of(2), 6)]
    assert found == [ROWS[:4].mean(), ROWS[4:].mean()]
    assert mean.trace_count == 2, "a program for the rows that there are"
    assert mean.explain().path == "exact"
    # A replica without rows has no mean.
    assert np.isnan(float(mean(batches(mesh_of(2), 5)[1])))


def test_random_numbers_and_whole_numbers_may_change_with_the_step(mesh_of):
    count = spmd.Variable(jnp.zeros((), jnp.int32), name="count")

    def step(x):
        count.value = count.value + spmd.all_reduce(spmd.valid_rows().sum().astype(jnp.int32))
        return spmd.all_reduce(spmd.average_loss(x[:, 0]))

    run = spmd.Step(step, mesh_of(2))
    for batch in batches(mesh_of(2), 5):
        run(batch)
    assert int(count.value) == 5


def test_whole_numbers_do_not_count_padding(mesh_of):
    count = spmd.Variable(jnp.zeros((), jnp.int32), name="count")

    def step(x):
        big = (x[:, 0] > 2).sum().astype(jnp.int32) + 0 * spmd.valid_rows().sum().astype(jnp.int32)
        count.value = count.value + spmd.all_reduce(big)

    run = spmd.Step(step, mesh_of(2))
    (batch,) = batches(mesh_of(2), 5, size=6)
    run(batch)
    assert int(count.value) == 4, "the rows but the first, and no padding"


def test_a_result_with_rows_may_not_depend_on_padding_in_others(mesh_of):
    def centred(x):
        mean = (x[:, 0] * 0.25).sum()
        return (x[:, 0] - mean) * spmd.valid_rows()

    (batch,) = batches(mesh_of(2), 5, size=8)
    step = spmd.Step(centred, mesh_of(2))
    first, second = step(batch).values
    np.testing.assert_allclose(first, ROWS[:3, 0] - ROWS[:3, 0].sum() / 4)
    np.testing.assert_allclose(second, ROWS[3:5, 0] - ROWS[3:5, 0].sum() / 4)


def test_the_host_is_not_called_for_a_trial(mesh_of):
    seen = []

    def step(x):
        io_callback(lambda value: seen.append(float(value)), None, x[0, 0], ordered=False)
        return spmd.average_loss(x[:, 0])

    run = spmd.Step(step, mesh_of(1))
    jax.block_until_ready([run(batch).array for batch in batches(mesh_of(1), 6)])
    jax.effects_barrier()
    assert seen == [1.0, 9.0]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([3.0, 4.0], [0.0, 0.0], 5.0),
        ([np.nan, 4.0], [np.nan, 0.0], 4.0),
        ([np.nan, 4.0], [1.0, 4.0], np.inf),
        ([2, 3], [2, 7], 4.0),
        ([[True], [False]], [[True], [True]], 1.0),
        (np.arange(7.0), np.arange(7.0)[::-1].copy(), np.sqrt(112)),
    ],
)
@pytest.mark.parametrize("dtype", [None, jnp.bfloat16])
def test_distances_are_those_of_the_devices(
    monkeypatch: pytest.MonkeyPatch, one: Any, other: Any, expected: float, dtype: Any
) -> None:
    monkeypatch.setattr(padding, "_BLOCK", 3)
    arrays = [jnp.asarray(each, dtype) for each in (one, other)]
    for distance in (padding._on_host, padding._on_devices):
        np.testing.assert_allclose(distance(*arrays), expected, rtol=1e-6)


def test_comparing_compiles_no_program_for_each_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(padding, "_on_devices")
    values = [jnp.ones(size) for size in range(1, 9)]
    others = [value + 1 for value in values[:-1]] + [values[-1]]
    names = [str(value.shape) for value in values]
    before: Any = [value * 0 for value in values]
    assert padding.counted(names, before, values, values, others) == names[:-1]
