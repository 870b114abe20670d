"""Tests of keeping freed memory."""

import ctypes
import os
import platform
import subprocess
import sys
import types

import jax
import pytest

from spmd import _jax_internals
from spmd.lowering import memory
from spmd.lowering.memory import keep_freed_memory, share_one_arena

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="glibc is Linux's")


@pytest.fixture(autouse=True)
def told_nothing(monkeypatch):
    for variable in ("JAXTRIBUTE_KEEP_MEMORY", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES"):
        monkeypatch.delenv(variable, raising=False)
    keep_freed_memory.cache_clear()
    yield
    keep_freed_memory.cache_clear()


@pytest.fixture
def options(monkeypatch):
    """Options that the library is told."""
    told = []
    library = types.SimpleNamespace(mallopt=lambda *option: told.append(option) or 1)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    return told


@pytest.fixture
def before_the_backend(monkeypatch):
    monkeypatch.setattr(_jax_internals, "backend_is_running", lambda: False)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no mallopt")
def test_glibc_is_told():
    assert keep_freed_memory()


def test_other_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: types.SimpleNamespace())
    assert not keep_freed_memory()
    assert not share_one_arena()


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert not keep_freed_memory()


@ON_LINUX
def test_told_once(options):
    assert keep_freed_memory()
    assert keep_freed_memory()
    assert options == [(-4, 0), (-1, -1)]


def test_the_switch(monkeypatch, options, before_the_backend):
    monkeypatch.setenv("JAXTRIBUTE_KEEP_MEMORY", "0")
    assert not keep_freed_memory()
    assert not share_one_arena()
    assert options == []


@ON_LINUX
@pytest.mark.parametrize(
    ("platforms", "plugins", "shared"),
    [
        ("cpu", [], True),
        ("cpu", ["cuda"], True),
        ("cuda,cpu", [], False),
        (None, [], True),
        (None, ["cuda"], False),
    ],
)
def test_an_arena_is_shared_on_processors_only(
    platforms, plugins, shared, monkeypatch, options, before_the_backend
):
    monkeypatch.setattr(memory, "entry_points", lambda group: plugins)
    monkeypatch.setattr(memory.importlib.util, "find_spec", lambda name: None)
    before = jax.config.jax_platforms  # type: ignore[attr-defined]
    try:
        jax.config.update("jax_platforms", platforms)
        assert share_one_arena() == shared
    finally:
        jax.config.update("jax_platforms", before)
    assert options == ([(-8, 1)] if shared else [])


@pytest.mark.parametrize("variable", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_what_the_environment_says_of_arenas_holds(
    variable, monkeypatch, options, before_the_backend
):
    monkeypatch.setenv(variable, "glibc.malloc.arena_max=4")
    assert not share_one_arena()
    assert options == []


def test_too_late_for_threads_that_have_arenas(options):
    jax.devices()
    assert not share_one_arena()
    assert options == []


@ON_LINUX
@pytest.mark.parametrize(
    "start",
    [
        "spmd.make_mesh()",
        pytest.param("spmd.simulate_devices(2)", marks=pytest.mark.slow),
        pytest.param("tf.distribute.MirroredStrategy()", marks=pytest.mark.slow),
    ],
)
def test_told_before_the_backend_starts(start):
    program = (
        "import ctypes, types; told = []\n"
        "library = types.SimpleNamespace(mallopt=lambda *option: told.append(option) or 1)\n"
        f"import jax, spmd\nfrom frontends import tf\nctypes.CDLL = lambda name: library\n{start}\nprint(told)"
    )
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[(-8, 1)]"
