"""`spmd.distribute(..., map_on_devices=...)`: devices make the batches that the loop gets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.input import distributed

PIXELS = np.arange(7 * 3, dtype=np.uint8).reshape(7, 3)


@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_is_applied_to_every_replicas_rows(devices, prefetch):
    mesh = spmd.make_mesh([f"cpu:{index}" for index in range(devices)])
    seen = []

    def scale(batch):
        seen.append((batch["x"].shape, batch["x"].dtype))
        return batch["x"].astype(jnp.float32) / 255, batch["y"] + 1

    data = {"x": PIXELS, "y": np.arange(7)}
    batches = list(
        spmd.distribute(data, mesh, batch_size=4, prefetch=prefetch, map_on_devices=scale)
    )
    assert set(seen) == {((4 // devices, 3), np.dtype(np.uint8))}
    for number, (x, y) in enumerate(batches):
        rows = slice(4 * number, 4 * number + 4)
        assert x.mask is y.mask
        expected = PIXELS[rows].astype(np.float32) / 255
        np.testing.assert_allclose(spmd.gather(x), expected, rtol=2e-7)  # XLA may multiply by 1/255
        np.testing.assert_array_equal(spmd.gather(y), np.arange(7)[rows] + 1)


def test_steps_leave_padding_out_as_ever():
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    step = spmd.Step(lambda x: spmd.all_reduce(spmd.average_loss(x)), mesh)
    batches = spmd.distribute(
        np.arange(6, dtype=np.uint8), mesh, batch_size=4, map_on_devices=lambda x: x * 0.5
    )
    assert [float(step(batch)) for batch in batches] == [0.75, 2.25]


@pytest.mark.parametrize("wrong", [lambda x: x[:1], lambda x: x.sum()])
def test_another_number_of_rows_is_an_error(wrong):
    batches = spmd.distribute(PIXELS, spmd.make_mesh(["cpu:0"]), batch_size=4, map_on_devices=wrong)
    with pytest.raises(
        spmd.errors.BatchError, match="as many rows as it takes: it took 4, but batch has"
    ):
        next(iter(batches))


def test_follows_the_types_of_the_thread_that_trains():
    mesh = spmd.make_mesh(["cpu:0"])
    with jax.enable_x64(True):
        (batch,) = spmd.distribute(
            PIXELS, mesh, batch_size=7, map_on_devices=lambda x: x.astype(jnp.float64)
        )
    assert batch.dtype == np.float64


def test_nothing_returned_is_an_error():
    batches = spmd.distribute(
        PIXELS, spmd.make_mesh(["cpu:0"]), batch_size=4, map_on_devices=lambda x: None
    )
    with pytest.raises(spmd.errors.BatchError, match="returned None, which has no array"):
        next(iter(batches))


def test_what_is_no_function_is_an_error():
    with pytest.raises(TypeError, match="must be a function of a batch, but is 3 of type int"):
        spmd.distribute(PIXELS, spmd.make_mesh(["cpu:0"]), batch_size=4, map_on_devices=3)


def test_several_processes_are_an_error(monkeypatch):
    monkeypatch.setattr(distributed, "spans_processes", lambda mesh: True)
    with pytest.raises(ValueError, match="map_on_devices needs all devices in one process"):
        spmd.distribute(PIXELS, spmd.make_mesh(["cpu:0"]), batch_size=4, map_on_devices=lambda x: x)


def test_batches_of_single_replicas_are_mapped_as_well():
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    batches = spmd.distribute(
        [PIXELS[:2], PIXELS[2:4]], mesh, per_replica=True, map_on_devices=lambda x: x * 2
    )
    (batch,) = batches
    np.testing.assert_array_equal(spmd.gather(batch), PIXELS[:4] * 2)
