"""`average_loss` against NumPy: weights, types and partial batches, for any number of replicas."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd.replica.loss import weighted

MeshOf = Callable[[int], Mesh]
WEIGHTS: dict[str, Callable[[int], Any]] = {
    "none": lambda rows: None,
    "()": lambda rows: np.float32(2.5),
    "(n,)": lambda rows: np.linspace(0.0, 2.0, rows, dtype=np.float32),
    "(n, 1)": lambda rows: np.linspace(1.0, 3.0, rows, dtype=np.float32)[:, None],
    "integers": lambda rows: np.arange(rows, dtype=np.int32) % 3,
}


def losses(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return (np.random.default_rng(0).normal(size=shape) * 10).astype(dtype)


def over_replicas(mesh: Mesh, loss: Any, weight: Any, **options: Any) -> float:
    """The sum over replicas of their shares; the batch has room for 8 rows."""

    def step(batch: Any) -> Any:
        given = batch.get("weight", weight)
        return spmd.all_reduce(spmd.average_loss(batch["loss"], given, **options))

    # The first batch is full, so the one that counts has the shapes that were compiled.
    full = np.zeros((8, *loss.shape[1:]), loss.dtype)
    data = {"loss": np.concatenate([full, loss])}
    if np.ndim(weight):
        data["weight"] = np.concatenate([np.zeros((8, *weight.shape[1:]), weight.dtype), weight])
    _, batch = spmd.distribute(data, mesh, batch_size=8)
    return float(spmd.Step(step, mesh)(batch))


def by_hand(loss: Any, weight: Any) -> float:
    wide = loss.astype(np.float64)
    if weight is not None:
        flat = np.asarray(weight, np.float64).reshape(-1)
        wide = wide * (flat if flat.size == 1 else flat.reshape(-1, *[1] * (loss.ndim - 1)))
    return float(wide.mean(axis=tuple(range(1, loss.ndim))).sum() / len(loss))


@pytest.mark.parametrize("rows", [8, 5, 1])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_any_number_of_replicas_gives_the_mean(mesh_of: MeshOf, kind: str, rows: int) -> None:
    loss, weight = losses((rows,)), WEIGHTS[kind](rows)
    expected = by_hand(loss, weight)
    np.testing.assert_allclose(spmd.average_loss(loss, weight), expected, rtol=1e-5, atol=1e-6)
    for replicas in (1, 4):
        result = over_replicas(mesh_of(replicas), loss, weight)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.bool_])
def test_losses_of_whole_numbers_are_averaged_as_fractions(mesh_of: MeshOf, dtype: Any) -> None:
    loss = np.array([3, 0, 1, 0, 1]).astype(dtype)
    result = spmd.average_loss(loss)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, loss.mean())
    weight = np.array([0.5, 1, 1, 1, 1], np.float32)
    np.testing.assert_allclose(
        over_replicas(mesh_of(4), loss, weight), by_hand(loss, weight), rtol=1e-6
    )


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_losses_of_short_floats_keep_their_type(dtype: Any) -> None:
    result = spmd.average_loss(jnp.array([1, 2, 6], dtype), np.array([1.0, 1.0, 2.0]))
    assert result.dtype == dtype
    np.testing.assert_allclose(np.float32(result), 5.0, rtol=1e-2)


def test_many_losses_of_a_short_float(mesh_of: MeshOf) -> None:
    rows = 70_000  # float16 ends at 65504: neither their number nor their sum fits
    loss = jnp.full((rows,), 3.0, jnp.float16)
    assert float(spmd.average_loss(loss)) == 3.0
    assert float(spmd.average_loss(loss, global_batch_size=2 * rows)) == 1.5
    step = spmd.Step(lambda x: spmd.all_reduce(spmd.average_loss(x)), mesh_of(2))
    (batch,) = spmd.distribute(np.asarray(loss), step.mesh, batch_size=rows + 2)
    result = step(batch)
    assert result.dtype == jnp.float16
    assert float(result) == 3.0


@pytest.mark.parametrize("rows", [8, 5])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_rank_two_is_averaged_over_its_later_axes(mesh_of: MeshOf, kind: str, rows: int) -> None:
    loss, weight = losses((rows, 3)), WEIGHTS[kind](rows)
    result = over_replicas(mesh_of(4), loss, weight)
    np.testing.assert_allclose(result, by_hand(loss, weight), rtol=1e-5, atol=1e-6)


def test_rank_two_with_a_weight_for_each_loss(mesh_of: MeshOf) -> None:
    loss, weight = losses((5, 3)), np.abs(losses((5, 3)))
    expected = (loss * weight).sum() / 15
    np.testing.assert_allclose(over_replicas(mesh_of(4), loss, weight), expected, rtol=1e-5)
    np.testing.assert_allclose(spmd.average_loss(loss, weight[..., None]), expected, rtol=1e-5)


@pytest.mark.parametrize("size", [10, 10.0, np.int32(10), jnp.array(10)])
def test_a_given_batch_size_divides(mesh_of: MeshOf, size: Any) -> None:
    loss = losses((5,))
    expected = loss.sum(dtype=np.float64) / 10
    np.testing.assert_allclose(spmd.average_loss(loss, global_batch_size=size), expected, rtol=1e-5)
    np.testing.assert_allclose(
        over_replicas(mesh_of(4), loss, None, global_batch_size=size), expected, rtol=1e-5
    )


def test_padding_may_hold_anything(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)

    def step(x: Any) -> Any:
        return spmd.all_reduce(spmd.average_loss(jnp.where(spmd.valid_rows(), x, jnp.nan)))

    data = np.arange(13, dtype=np.float32)
    run = spmd.Step(step, mesh)
    results = [float(run(batch)) for batch in spmd.distribute(data, mesh, batch_size=8)]
    np.testing.assert_allclose(results, [3.5, 10.0])


def last_batch(mesh: Mesh, rows: int, batch_size: int, value: float) -> Any:
    """A partial batch of a number, whose padding is no number."""
    data = np.full((batch_size + rows,), value, np.float32)
    return list(spmd.distribute(data, mesh, batch_size=batch_size, prefetch=0))[1]


def spoiled(x: Any) -> Any:
    return jnp.where(spmd.valid_rows(x), x, jnp.nan)


def test_of_two_batches_the_one_with_as_many_rows_counts(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)

    def step(x: Any, y: Any) -> Any:
        return [
            spmd.all_reduce(spmd.average_loss(spoiled(x) * 1.0)),
            spmd.all_reduce(spmd.average_loss(spoiled(y)[:, None] * jnp.ones(3))),
        ]

    x, y = last_batch(mesh, 5, 8, 2.0), last_batch(mesh, 3, 4, 7.0)
    assert [float(value) for value in spmd.Step(step, mesh)(x, y)] == [2.0, 7.0]


def test_two_leaves_of_one_batch_are_one_batch(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    data = {"x": np.ones(13, np.float32), "y": np.full(13, 3.0, np.float32)}
    batch = list(spmd.distribute(data, mesh, batch_size=8))[1]
    step = spmd.Step(lambda x, y: spmd.all_reduce(spmd.average_loss(spoiled(x) * spoiled(y))), mesh)
    assert float(step(batch["x"], batch["y"])) == 3.0


def test_losses_of_no_batch_are_averaged_as_they_are(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    step = spmd.Step(
        lambda x, y: spmd.all_reduce(
            spmd.average_loss(jnp.arange(3.0)) + 0 * (spoiled(x).size + spoiled(y).size)
        ),
        mesh,
    )
    assert float(step(last_batch(mesh, 5, 8, 2.0), last_batch(mesh, 3, 4, 7.0))) == 1.0


def test_two_batches_of_as_many_rows_need_to_say_which_count(mesh_of: MeshOf) -> None:
    mesh = mesh_of(2)
    x, y = last_batch(mesh, 5, 8, 2.0), last_batch(mesh, 3, 8, 7.0)
    with pytest.raises(
        spmd.errors.BatchError, match=r"4 losses.*2 batches.*\n.*spmd.valid_rows\(batch\)"
    ):
        spmd.Step(lambda x, y: spmd.all_reduce(spmd.average_loss(x + y)), mesh)(x, y)

    def named(x: Any, y: Any) -> Any:
        averages: list[Any] = []
        for batch in (x, y):
            rows = spmd.valid_rows(batch)
            count = spmd.all_reduce(rows.sum())
            averages.append(
                spmd.all_reduce(spmd.average_loss(batch, rows, global_batch_size=count))
            )
        return averages

    assert [float(value) for value in spmd.Step(named, mesh)(x, y)] == [2.0, 7.0]


def test_gradients_add_up_to_the_gradient_of_the_mean(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    weight = jnp.array([0.5, -1.0])

    def loss(w: Any, x: Any) -> Any:
        return spmd.average_loss((x @ w) ** 2)

    run = spmd.Step(lambda x: spmd.all_reduce(jax.grad(loss)(weight, x)), mesh)
    data = losses((13, 2))
    for rows, batch in zip(
        (data[:8], data[8:]), spmd.distribute(data, mesh, batch_size=8), strict=True
    ):
        expected = 2 * rows.T @ (rows @ np.asarray(weight)) / len(rows)
        np.testing.assert_allclose(run(batch), expected, rtol=1e-5)


def test_a_scalar_is_refused(mesh_of: MeshOf) -> None:
    with pytest.raises(ValueError, match=r"one loss per example.*got a scalar"):
        spmd.average_loss(jnp.float32(1.0))
    with pytest.raises(ValueError, match="a mean over this replica only"):
        spmd.Step(lambda: spmd.average_loss(jnp.ones(3).mean()), mesh_of(2))()


@pytest.mark.parametrize("shape", [(4, 2), (1, 4, 1), (4, 1, 1)])
def test_weights_with_more_axes_than_losses_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="one weight for each loss") as error:
        spmd.average_loss(jnp.ones(4), np.ones(shape))
    assert "losses of shape (4,)" in str(error.value)


def test_weighted_keeps_the_shape_of_the_losses() -> None:
    result = weighted(jnp.ones((2, 3), jnp.int32), np.array([1.0, 2.0]))
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, [[1, 1, 1], [2, 2, 2]])


@pytest.mark.parametrize("shape", [(3,), (2, 1)])
def test_weights_of_another_length_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        spmd.average_loss(jnp.ones(4), np.ones(shape))


def test_weights_do_not_stretch_the_losses() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        weighted(jnp.ones(1), np.ones(4))
    with pytest.raises(ValueError, match="does not fit"):
        weighted(jnp.ones((4, 1)), np.ones((4, 3)))


def test_without_rows_the_loss_is_zero() -> None:
    none = np.zeros((0,), np.float32)
    assert float(spmd.average_loss(none)) == 0
    assert float(jax.jit(spmd.average_loss)(none)) == 0
    assert float(spmd.average_loss(np.ones(2, np.float32), global_batch_size=0)) == 0
