"""Programs that another process compiles: they compute the same, are cached, and nothing is left behind."""

import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

from spmd import _jax_internals
from spmd.lowering import compiler_process
from spmd.lowering.compiler_process import (
    CompilerProcess,
    compiling,
    expect_program,
    receive,
    send,
)

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only glibc's heaps need it")
PROGRAM = """
import json, os, subprocess

import jax, jax.numpy as jnp, numpy as np
import spmd
from spmd.lowering import compiler_process
from spmd.lowering.compiler_process import CompilerProcess

compiler_process._MEDIUM = compiler_process._LARGE = compiler_process._FREE = 0
os.sched_getaffinity = lambda process: {0, 1}
made, compiled, hits, started = [], [], [], subprocess.Popen


def compile(self, request, before=CompilerProcess.compile):
    found = before(self, request)
    compiled.append(found is not None)
    return found


def popen(*args, **options):
    made.append(started(*args, **options))
    return made[-1]


def listen(event, **_):
    if event.endswith("/cache_hits"):
        hits.append(event)


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
step = spmd.Step(train).trace(batch).lower()
jax.monitoring.register_event_listener(listen)
step = step.compile()
found = len(hits)
losses = [float(step(batch)) for _ in range(3)]
print(json.dumps([losses, compiled, [process.returncode is not None for process in made], found]))
"""


@ON_LINUX
def test_a_program_is_compiled_elsewhere_once_and_computes_the_same(run_python, tmp_path):
    def run(cache, switch):
        environment = {
            "JAX_COMPILATION_CACHE_DIR": str(tmp_path / cache),
            "JAXTRIBUTE_COMPILER_PROCESS": switch,
        }
        (tmp_path / cache).mkdir(exist_ok=True)
        return json.loads(run_python("-c", PROGRAM, environment=environment).stdout)

    losses, *others = run("one", "1")
    assert others == [[True], [True], 0]
    again, *others = run("one", "1")
    assert (again, others) == (losses, [[], [], 1])
    here, *others = run("other", "0")
    assert (here, others) == (losses, [[], [], 0])


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Makes the other process worthwhile; lists those that were started, and whether they compiled."""
    found = []

    class Started(CompilerProcess):
        def __init__(self, *of):
            super().__init__(*of)
            self.compiled = []
            found.append(self)

        def compile(self, request):
            answer = super().compile(request)
            self.compiled.append(answer is not None)
            return answer

    monkeypatch.setenv("JAXTRIBUTE_COMPILER_PROCESS", "1")
    monkeypatch.setattr(compiler_process, "_waiting", None)
    monkeypatch.setattr(compiler_process, "_FREE", 0)
    monkeypatch.setattr(compiler_process, "CompilerProcess", Started)
    monkeypatch.setattr(compiler_process, "shares_one_arena", lambda: True)
    monkeypatch.setattr(compiler_process, "knows_program", lambda name, arrays: name == "known")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    yield found
    for process in found:
        process.end()


@pytest.fixture
def _no_cache():
    before = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()  # JAX asks the option once
    yield
    jax.config.update("jax_enable_compilation_cache", before)
    compilation_cache.reset_cache()


@ON_LINUX
def test_threads_of_the_process_have_a_heap_each(monkeypatch):
    monkeypatch.delenv("JAXTRIBUTE_KEEP_MEMORY", raising=False)
    code = (
        "import jax, spmd.lowering._compiler_main\njax.devices()\n"
        "from spmd.lowering.memory import shares_one_arena\nprint(shares_one_arena())"
    )
    for environment, shares in ((os.environ, True), (compiler_process._environment(1), False)):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**environment, "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == str(shares)


@ON_LINUX
def test_one_process_waits_and_ends_if_nothing_is_compiled(started):
    expect_program("step", 100)
    expect_program("step", 100)
    assert [process.is_alive for process in started] == [True]
    with compiling("another step"):
        pass
    assert started[0].is_alive
    with compiling("step"):
        jax.jit(lambda x: x + 1)(np.float32(1))  # far too small for another process
    assert not started[0].is_alive


@ON_LINUX
def test_a_step_that_is_traced_next_gets_a_process_of_its_own(started):
    expect_program("step", 100)
    expect_program("another step", 100)
    assert [process.is_alive for process in started] == [False, True]


@ON_LINUX
def test_a_process_that_has_died_is_replaced(started):
    expect_program("step", 100)
    os.kill(started[0]._process.pid, signal.SIGKILL)
    started[0]._process.wait()
    expect_program("step", 100)
    assert [process.is_alive for process in started] == [False, True]


@ON_LINUX
def test_no_process_for_little_state_or_a_program_that_is_known(started):
    expect_program("step", 5)
    expect_program("known", 100)
    assert started == []


@ON_LINUX
@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        (compiler_process, "shares_one_arena", lambda: False),
        (compiler_process, "_free_memory", lambda: -1),
        (os, "sched_getaffinity", lambda process: {0}),
        (sys, "executable", ""),
        (sys, "frozen", True),
        (jax, "process_count", lambda: 2),
        (os, "environ", {**os.environ, "JAXTRIBUTE_COMPILER_PROCESS": "0"}),
    ],
)
def test_no_process_where_it_is_not_worthwhile(started, monkeypatch, where, name, value):
    assert compiler_process._is_worthwhile()
    monkeypatch.setattr(where, name, value, raising=False)
    expect_program("step", 100)
    assert started == []


@ON_LINUX
@pytest.mark.usefixtures("_no_cache")
@pytest.mark.parametrize("is_expected", [True, False])
def test_each_program_of_a_block_has_a_process(started, monkeypatch, is_expected):
    monkeypatch.setattr(compiler_process, "_LARGE", 0)
    monkeypatch.setattr(compiler_process, "_MEDIUM", 0)
    if is_expected:
        expect_program("step", 100)
    x = np.arange(7.0, dtype=np.float32)
    with compiling("step"):
        found = [jax.jit(lambda x, by=by: x * by + 1)(x) for by in (3, 4)]
    assert [int(one[2]) for one in found] == [7, 9]
    assert [process.compiled for process in started] == [[True], [True]]
    assert not any(process.is_alive for process in started)


@ON_LINUX
def test_a_process_that_dies_gives_nothing(caplog):
    caplog.set_level(logging.DEBUG, "spmd.lowering")
    process = CompilerProcess("step", 1, 1)
    process._process.kill()
    request = _jax_internals.CompileRequest(b"program", b"options", [0])
    assert process.compile(request) is None
    assert "'step' failed" in caplog.text


@ON_LINUX
def test_what_cannot_be_compiled_gives_nothing():
    process = CompilerProcess("step", 1, 1)
    request = _jax_internals.CompileRequest(b"no program", b"", [0])
    assert process.compile(request) is None
    assert not process.is_alive


@ON_LINUX
def test_what_libraries_print_is_no_answer(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("print('Hello world', flush=True)")
    monkeypatch.syspath_prepend(tmp_path)
    process = CompilerProcess("step", 1, 1)
    try:
        process._process.stdin.close()
        assert process._process.wait(60) == 0
        assert process._answer.read() == b""
    finally:
        process.end()


@ON_LINUX
def test_the_process_ends_with_its_parent(run_python, tmp_path):
    code = """
import os, signal
from spmd.lowering.compiler_process import CompilerProcess
process = CompilerProcess("step", 1, 1)
held = os.dup(process._process.stdin.fileno())
if os.fork() == 0:  # holds the pipes open
    os.close(1), os.close(2)
    import time
    time.sleep(20)
    os._exit(0)
print(process._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    number = int(run_python("-c", code, status=-signal.SIGKILL).stdout)
    patience = time.monotonic() + 15  # which the held pipes outlive
    while _is_running(number):
        assert time.monotonic() < patience
        time.sleep(0.1)


def _is_running(number):
    try:
        # A zombie, which is not this process's to reap, has no words.
        return bool(Path(f"/proc/{number}/cmdline").read_text())
    except OSError:
        return False


@pytest.mark.parametrize("lost", [1, 8, 10])
def test_a_message_that_is_cut_off_is_no_message(lost):
    pipe = io.BytesIO()
    send(pipe, b"program")
    with pytest.raises(EOFError, match="in place of"):
        receive(io.BytesIO(pipe.getvalue()[:-lost]))


@ON_LINUX
def test_memory_that_is_free(monkeypatch):
    monkeypatch.setattr(compiler_process, "_FREE", 2**70)
    assert 2**20 < compiler_process._free_memory() < 2**50


def test_the_process_gets_as_many_devices_as_this_one(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_a=1 --xla_force_host_platform_device_count=3 --xla_b=2")
    environment = compiler_process._environment(5)
    assert environment["XLA_FLAGS"] == "--xla_a=1 --xla_b=2"
    assert environment["JAX_NUM_CPU_DEVICES"] == "5"
    assert environment["JAXTRIBUTE_COMPILER_PROCESS"] == "0"
