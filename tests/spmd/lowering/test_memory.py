"""Tests of keeping freed memory."""

import ctypes
import os
import platform
import subprocess
import sys
import types
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import pytest

from spmd import _jax_internals
from spmd.lowering import memory
from spmd.lowering.memory import Workspace, keep_freed_memory, share_one_arena, workspace_of
from spmd.topology import detection

ON_GLIBC = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other C libraries have no mallopt"
)
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


@ON_GLIBC
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


@ON_GLIBC
@pytest.mark.parametrize("package", ["import spmd", "from frontends import tf"])
def test_told_before_a_script_makes_its_first_array(package):
    program = (
        f"{package}\nimport jax.numpy as jnp\njnp.ones(3)\n"
        "from spmd.lowering.memory import shares_one_arena\nprint(int(shares_one_arena()))"
    )
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    assert _printed(program, environment) == [1]


@ON_GLIBC
@pytest.mark.skipif(
    any(map(os.path.exists, detection._DRIVERS)) or _jax_internals.tpu_chips() > 0,
    reason="they have one here",
)
def test_told_where_plugins_have_no_device():
    """The import of the engine alone does nothing there; that of the front end leaves out the plugins first."""
    program = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: object() if name == "libtpu" else find(name, *rest)
from spmd.lowering import memory
assert not memory.shares_one_arena()
from frontends import tf
print(int(memory.shares_one_arena()))
"""
    environment = {**os.environ, "JAX_PLATFORMS": ""}
    assert _printed(program, environment) == [1]


# What XLA does in a step, with a block of 128 MB, while others keep small allocations.
_A_HEAP = """
import ctypes
from spmd.lowering.memory import Workspace, keep_freed_memory

def megabytes(what):
    line = next(line for line in open("/proc/self/status") if line.startswith(what))
    return int(line.split()[1]) // 1024

library = ctypes.CDLL(None)
for allocate in (library.malloc, library.aligned_alloc, library.memset):
    allocate.restype = ctypes.c_void_p
library.malloc.argtypes, library.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
library.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
library.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
assert keep_freed_memory()
SIZE = 2**27
workspace = Workspace(SIZE, 1)

def step(prepared=True):
    if prepared:
        workspace.prepare()
    block = library.aligned_alloc(64, SIZE)
    library.memset(block, 1, SIZE)
    for _ in range(100):
        library.malloc(40)
    library.free(block)

before = megabytes("VmRSS")
step()
"""


def _printed(program: str, environment: Mapping[str, str] | None = None) -> list[int]:
    """Runs a program in a process of its own; returns the numbers that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return [int(number) for number in done.stdout.split()]


@ON_GLIBC
def test_steps_compute_in_one_block():
    steps = "for _ in range(10): step()\nprint(megabytes('VmHWM') - before)"
    (grown,) = _printed(_A_HEAP + steps)
    assert 120 <= grown < 160  # both are rounded, and what was resident before may be used


@ON_GLIBC
def test_a_block_that_is_lost_is_returned():
    lost = """
most = library.malloc(SIZE * 3 // 4)
library.malloc(2**20)
library.free(most)
left = megabytes("VmRSS")
workspace.prepare()
print(left - before, left - megabytes("VmRSS"))
step()
print(megabytes("VmHWM") - before)
"""
    grown, returned, peak = _printed(_A_HEAP + lost)
    assert grown >= 120  # as above
    assert returned >= 90
    assert peak < 192


@ON_GLIBC
def test_returning_memory_at_each_step_ends():
    always_lost = """
returned = 0
for _ in range(12):
    library.malloc(SIZE * 5 // 8)
    left = megabytes("VmRSS")
    workspace.prepare()
    returned += megabytes("VmRSS") < left - 32
    step(prepared=False)
print(returned)
"""
    (returned,) = _printed(_A_HEAP + always_lost)
    assert 4 <= returned <= 8


def _compiled(rows: int) -> jax.stages.Compiled:
    """A program that computes in 4 kB for each row."""

    def sines_of_products(x: jax.Array) -> jax.Array:
        return jnp.sin(x @ jnp.ones((8, 1024))) @ jnp.ones((1024, 8))

    return jax.jit(sines_of_products).lower(jnp.ones((rows, 8))).compile()


@ON_GLIBC
def test_large_programs_for_processors_have_a_workspace(monkeypatch):
    large = _compiled(2**14 + 2**10)
    assert isinstance(workspace_of(large, "cpu", 1), Workspace)
    assert workspace_of(large, "gpu", 1) is None
    assert workspace_of(_compiled(2**10), "cpu", 1) is None
    keep_freed_memory.cache_clear()
    monkeypatch.setenv("JAXTRIBUTE_KEEP_MEMORY", "0")
    assert workspace_of(large, "cpu", 1) is None
