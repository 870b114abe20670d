"""What tests share: meshes of simulated devices (see ../conftest.py), fresh processes, a look for leftovers."""

import gc
import os
import random
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from jax._src.interpreters import mlir
from jax.extend.mlir import ir

import spmd
from conftest import COMPILE_FAST, compiles_fast
from spmd.cluster import runtime
from spmd.files import StorePath
from tests import warm
from tests.fake_store import FakeStore

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run, however long a busy machine takes for them.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


def pytest_xdist_auto_num_workers() -> int:
    """Starts a worker more than there are cores: some tests wait for processes or for a deadline."""
    return 1 + (os.cpu_count() or 1)


@pytest.fixture
def mesh_of() -> Callable[[int], jax.sharding.Mesh]:
    """Makes a mesh of the first N simulated devices; a test that asks for more fails, not skips."""

    def make(count: int) -> jax.sharding.Mesh:
        assert len(jax.devices("cpu")) >= count
        return spmd.make_mesh([f"cpu:{index}" for index in range(count)])

    return make


@pytest.fixture
def simulate(
    monkeypatch: pytest.MonkeyPatch, mesh_of: Callable[[int], jax.sharding.Mesh]
) -> Callable[[str], None]:
    """Has the simulated devices stand for accelerators, as in `simulate("tpu:8")`."""
    mesh_of(8)  # all devices are there before a test asks for some of them
    return lambda text: monkeypatch.setenv("JAXTRIBUTE_SIMULATE", text)


@pytest.fixture
def bucket() -> Iterator[str]:
    """Gives the URL of an object store of this test's own, in this process's memory."""
    url = f"memory://{uuid.uuid4().hex}"
    yield url
    if StorePath(url).exists():
        StorePath(url).rmtree()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> FakeStore:
    """The cluster's store, in which the test says what other processes say (`store.answer = ...`)."""
    fake = FakeStore()
    monkeypatch.setattr("spmd.cluster.store._local", fake)
    return fake


@pytest.fixture
def fresh_environment(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """For a process of its own; see `environment_of_processes`."""
    return environment_of_processes(pytestconfig, tmp_path_factory)


def environment_of_processes(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """For a process of its own: it finds this checkout, and starts without simulated devices.

    It reads the programs that earlier processes of this worker compiled, and nobody writes them meanwhile.
    """
    inherited = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC")}
    if compiles_fast(pytestconfig):
        inherited["XLA_FLAGS"] = COMPILE_FAST
    return inherited | {
        **{"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "COLUMNS": "120"},
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path_factory.getbasetemp() / "compiled-in-processes"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


@pytest.fixture(scope="session")
def start_python(pytestconfig: pytest.Config) -> Iterator[Callable[..., subprocess.Popen]]:
    """Starts Python with arguments and variables, like `Popen`; in the two parts its imports are made already."""
    if not compiles_fast(pytestconfig):
        yield lambda words, environment, **options: subprocess.Popen(
            [sys.executable, *map(str, words)], env=environment, **options
        )
        return
    servers = warm.Servers()
    yield servers.start
    servers.close()


@pytest.fixture
def run_python(
    fresh_environment: dict[str, str], start_python: Callable[..., subprocess.Popen]
) -> Callable[..., subprocess.CompletedProcess]:
    """Runs Python in a process of its own; gives what it printed, once it ended with `status`."""

    def run(
        *words: object,
        status: int = 0,
        environment: dict[str, str] | None = None,
        input: bytes | None = None,
        **options,
    ) -> subprocess.CompletedProcess:
        options |= dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        if input is not None:
            options["stdin"] = subprocess.PIPE
        with start_python(words, fresh_environment | (environment or {}), **options) as process:
            try:
                # Not text=True, which makes lines of what a progress bar overwrites.
                out, err = (one.decode() for one in process.communicate(input, timeout=800))
            finally:
                process.kill()
        assert process.returncode == status, err
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return run


@pytest.fixture
def words_of_new_python(fresh_environment: dict[str, str]) -> Callable[[str], list[str]]:
    """Runs a script in a Python that has imported nothing, unlike those of `run_python`; gives the words that it printed."""

    def run(script: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            env=fresh_environment,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return run


def _within_a_program() -> bool:
    try:
        return ir.Context.current is not None
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def _cheap_programs(pytestconfig: pytest.Config) -> None:
    """Spares each program what its result does not depend on, which takes a fifth of the tests' time.

    This touches JAX's internals: MLIR's context is made anew for each program, in 8 ms. Here, a thread keeps one.
    """
    gc.set_threshold(20_000, 20, 20)
    jax.config.update("jax_traceback_in_locations_limit", 0)
    if compiles_fast(pytestconfig):
        kept = threading.local()
        make = mlir.make_ir_context

        def context() -> object:
            if (
                _within_a_program()
            ):  # compiled while another is lowered: MLIR would put it into that one
                return make()
            kept.uses = getattr(kept, "uses", -1) + 1
            if kept.uses % 100 == 0:  # it keeps the types and attributes of all its programs
                kept.context = make()
            return kept.context

        mlir.make_ir_context = context


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Shares compiled programs between the processes of one run: many tests compile the same."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    jax.config.update("jax_compilation_cache_dir", str(shared / "compiled"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@pytest.fixture(scope="module", autouse=True)
def _what_stays_is_no_garbage() -> None:
    """Spares each collection the modules and what former tests left in caches: it would take seconds."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _keras_counts_from_one() -> None:
    """Lets equal models of two tests have equal names, so that their programs are compiled once."""
    if keras := sys.modules.get("keras"):
        keras.utils.clear_session(free_memory=False)


@pytest.fixture(autouse=True)
def _numbers_are_repeatable() -> None:
    """Lets a test draw the same numbers in every run; Keras seeds its generators with Python's."""
    random.seed(0)
    np.random.seed(0)


@pytest.fixture(autouse=True)
def _in_no_cluster() -> Iterator[None]:
    """Leaves the cluster of one that a test joins: its limits would hold in later tests of this process."""
    yield
    runtime.shutdown()


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    threads, environment = set(threading.enumerate()), dict(os.environ)
    yield
    left = [
        thread
        for thread in set(threading.enumerate()) - threads
        if thread.is_alive() and thread.name.startswith("spmd-")
    ]
    assert not left, f"threads left behind: {left}"
    changed = {
        key for key in environment | os.environ if environment.get(key) != os.environ.get(key)
    }
    # pytest itself says which test runs, and Keras sets the other one when it is imported.
    changed -= {"PYTEST_CURRENT_TEST", "TF_FORCE_GPU_ALLOW_GROWTH"}
    assert not changed, f"environment changed: {changed}"
