"""Map functions run on the host's CPU, whatever device, mesh or trace is around them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType

from spmd.input.pipeline import MapFunction, cpu, numbers


def eagerly(x):
    result = jnp.sin(np.asarray(x))  # does not trace: so `result` is an array on a device
    assert result.devices() == {jax.local_devices(backend="cpu")[0]}
    return result


def both_ways():
    expected = np.sin(np.arange(5, dtype=np.float32))
    rows = numbers(0, 1, np.dtype(np.int64), 5)
    for function in map(MapFunction, (eagerly, jnp.sin)):
        for form in (rows.map(function, 0).batch(5, False), rows.batch(5, False).map(function, 0)):
            np.testing.assert_allclose(next(form.elements()), expected, rtol=1e-6)


def devices_of(function):
    return cpu.call_on_cpu(jax.jit(function), np.ones(3)).devices()


def test_another_default_device():
    other = jax.devices()[-1]
    assert other != jax.devices()[0]
    with jax.default_device(other):
        both_ways()
        assert devices_of(jnp.sin) == {jax.devices("cpu")[0]}


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_inside_set_mesh(axis_type):
    mesh = jax.make_mesh((4,), ("x",), axis_types=(axis_type,))
    with jax.set_mesh(mesh):
        both_ways()
        assert devices_of(jnp.cos) == {jax.devices("cpu")[0]}


def test_inside_a_trace():
    def traced(x):
        both_ways()  # compares values: these are no tracers
        return x

    assert jax.jit(traced)(1) == 1
    jax.vmap(traced)(np.ones(2))
    jax.grad(traced)(1.0)


def test_no_cpu_backend(monkeypatch):
    def missing(backend):
        raise RuntimeError(f"Unknown backend {backend}")

    monkeypatch.setattr(cpu.jax, "local_devices", missing)
    with pytest.raises(RuntimeError, match=r"(?s)no CPU backend here.*JAX_PLATFORMS="):
        cpu.call_on_cpu(jnp.sin, np.ones(3))
