"""Programs that another process compiles: they compute the same, are cached, and nothing is left behind."""

import json
import os
import sys

import jax
import numpy as np
import pytest

from spmd import _jax_internals
from spmd.lowering import compiler_process
from spmd.lowering.compiler_process import CompilerProcess, compiling, expect_program

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only glibc's heaps need it")
PROGRAM = """
import json, subprocess, sys

import jax, jax.numpy as jnp, numpy as np
import spmd
from spmd.lowering import compiler_process
from spmd.lowering.compiler_process import CompilerProcess

compiler_process._MEDIUM = compiler_process._FREE = 0
made, compiled, started = [], [], subprocess.Popen


def compile(self, source, before=CompilerProcess.compile):
    found = before(self, source)
    compiled.append(found is not None)
    return found


def popen(*args, **options):
    made.append(started(*args, **options))
    return made[-1]


CompilerProcess.compile = compile
subprocess.Popen = popen
spmd.simulate_devices(2)
weights = [spmd.Variable(jnp.full(3, index / 20), name=f"w{index}") for index in range(20)]


def train(x):
    for weight in weights:
        x = jnp.sin(x * weight.value)
    for weight in weights:
        weight.value = weight.value + spmd.all_reduce(x.sum(0))
    return spmd.all_reduce(x.sum())


batch = next(iter(spmd.distribute(np.ones((4, 3), np.float32), spmd.make_mesh(), batch_size=4)))
step = spmd.Step(train)
losses = [float(step(batch)) for _ in range(3)]
print(json.dumps([losses, compiled, [process.poll() is not None for process in made]]))
"""


@ON_LINUX
def test_a_program_is_compiled_elsewhere_once_and_computes_the_same(run_python, tmp_path):
    def run(cache, switch):
        environment = {
            "XDG_CACHE_HOME": str(tmp_path / cache),
            "JAXTRIBUTE_COMPILER_PROCESS": switch,
            "JAX_PLATFORMS": "cpu",
        }
        return json.loads(run_python("-c", PROGRAM, environment=environment).stdout)

    losses, compiled, ended = run("one", "1")
    assert (compiled, ended) == ([True], [True])
    again, compiled, ended = run("one", "1")
    assert (again, compiled, ended) == (losses, [], [])
    here, compiled, ended = run("other", "0")
    assert (here, compiled, ended) == (losses, [], [])


@pytest.fixture
def started(monkeypatch):
    """Has it pay to compile elsewhere; lists the processes that were started."""
    found = []

    class Started(CompilerProcess):
        def __init__(self, devices):
            super().__init__(devices)
            found.append(self)

    monkeypatch.setenv("JAXTRIBUTE_COMPILER_PROCESS", "1")
    monkeypatch.setattr(compiler_process, "shares_one_arena", lambda: True)
    monkeypatch.setattr(compiler_process, "_FREE", 0)
    monkeypatch.setattr(compiler_process, "CompilerProcess", Started)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    yield found
    with compiling():
        pass
    for process in found:
        process.end()


def _is_over(process):
    return process._process.poll() is not None


@ON_LINUX
def test_one_process_waits_and_ends_if_nothing_is_compiled(started):
    expect_program("never", state=100)
    expect_program("compiled", state=100)
    assert len(started) == 1
    assert not _is_over(started[0])
    with compiling():
        jax.jit(lambda x: x + 1)(np.float32(1))  # far too small for another process
    assert _is_over(started[0])


@ON_LINUX
def test_no_process_for_little_state(started):
    expect_program("small", state=5)
    assert started == []


@ON_LINUX
def test_no_process_for_a_program_that_is_cached(started, tmp_path, monkeypatch):
    monkeypatch.setattr(compiler_process, "holds_program", lambda name: name == "known")
    expect_program("known", state=100)
    assert started == []


@ON_LINUX
@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        (compiler_process, "shares_one_arena", lambda: False),
        (compiler_process, "_free_memory", lambda: -1),
        (os, "sched_getaffinity", lambda process: {0}),
        (sys, "executable", ""),
        (jax, "process_count", lambda: 2),
    ],
)
def test_no_process_where_it_does_not_pay(started, monkeypatch, where, name, value):
    monkeypatch.setattr(where, name, value)
    expect_program("large", state=100)
    assert started == []


@ON_LINUX
def test_a_large_program_that_was_not_expected_starts_a_process(started, monkeypatch):
    monkeypatch.setattr(compiler_process, "_LARGE", 0)
    x = np.arange(7.0, dtype=np.float32)
    with compiling():
        found = jax.jit(lambda x: x * 3 + 1)(x)
    assert found[2] == 7
    assert [_is_over(process) for process in started] == [True]


@ON_LINUX
def test_a_process_that_dies_gives_nothing():
    process = CompilerProcess(1)
    process._process.kill()
    assert process.compile(_jax_internals.Source(b"program", b"options", [0])) is None


@ON_LINUX
def test_what_cannot_be_compiled_gives_nothing():
    process = CompilerProcess(1)
    assert process.compile(_jax_internals.Source(b"no program", b"", [0])) is None
    assert _is_over(process)


@ON_LINUX
def test_memory_that_is_free(monkeypatch):
    monkeypatch.setattr(compiler_process, "_FREE", 2**70)
    assert 2**20 < compiler_process._free_memory() < 2**50


def test_the_process_gets_as_many_devices_as_this_one(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_a=1 --xla_force_host_platform_device_count=3 --xla_b=2")
    environment = compiler_process._environment(5)
    assert environment["XLA_FLAGS"] == "--xla_a=1 --xla_b=2"
    assert environment["JAX_NUM_CPU_DEVICES"] == "5"
