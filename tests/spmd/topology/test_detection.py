"""Whether there is a TPU."""

import importlib.util

import pytest

from spmd import _jax_internals
from spmd.topology.detection import has_tpu


@pytest.fixture
def machine(monkeypatch):
    """A machine with TPU chips and libtpu, whose backend does not run yet."""
    monkeypatch.delenv("JAXTRIBUTE_SIMULATE", raising=False)
    monkeypatch.setattr(_jax_internals, "backend_is_running", lambda: False)
    monkeypatch.setattr(_jax_internals, "tpu_chips", lambda: 4)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())


def test_the_backend_that_runs_tells(monkeypatch):
    monkeypatch.setattr(_jax_internals, "tpu_chips", lambda: 4)
    assert not has_tpu()


def test_simulated_ones(monkeypatch):
    monkeypatch.setenv("JAXTRIBUTE_SIMULATE", "tpu:2")
    assert has_tpu()
    monkeypatch.setenv("JAXTRIBUTE_SIMULATE", "gpu:2")
    assert not has_tpu()


def test_chips_and_libtpu_are_needed(machine, monkeypatch):
    import jax

    before = jax.config.jax_platforms
    try:
        for platforms, found in [(None, True), ("tpu,cpu", True), ("cpu", False), ("cuda", False)]:
            jax.config.update("jax_platforms", platforms)
            assert has_tpu() is found
        jax.config.update("jax_platforms", None)
        monkeypatch.setattr(_jax_internals, "tpu_chips", lambda: 0)
        assert not has_tpu()
        monkeypatch.setattr(_jax_internals, "tpu_chips", lambda: 4)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        assert not has_tpu()
    finally:
        jax.config.update("jax_platforms", before)
