"""Whether there is a TPU."""

import importlib.metadata
import importlib.util
import os
import types

import jax
import pytest

from spmd import _jax_internals
from spmd.topology.detection import has_tpu, leave_out_absent_accelerators


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


@pytest.mark.parametrize(
    ("installed", "chips", "files", "plugins", "variables", "platforms"),
    [
        ("libtpu", 0, [], [], {}, "cpu"),
        ("jax_cuda12_plugin", 0, [], ["xla_cuda12"], {}, "cpu"),
        ("", 0, [], [], {}, None),
        ("libtpu", 4, [], [], {}, None),
        ("libtpu", 0, ["/dev/nvidiactl"], [], {}, None),
        ("libtpu", 0, [], ["xla_cuda12", "another"], {}, None),
        ("libtpu", 0, [], [], {"JAX_FORCE_TPU_INIT": "1"}, None),
    ],
)
def test_compilers_of_other_machines_are_left_out(
    machine, monkeypatch, installed, chips, files, plugins, variables, platforms
):
    before = jax.config.jax_platforms
    entries = [types.SimpleNamespace(name=name) for name in plugins]
    monkeypatch.setattr(_jax_internals, "tpu_chips", lambda: chips)
    monkeypatch.setattr(os.path, "exists", lambda path: path in files)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == installed or None)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    try:
        jax.config.update("jax_platforms", None)
        leave_out_absent_accelerators()
        assert jax.config.jax_platforms == platforms
        jax.config.update("jax_platforms", "cuda")
        leave_out_absent_accelerators()
        assert jax.config.jax_platforms == "cuda"
    finally:
        jax.config.update("jax_platforms", before)
