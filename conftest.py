"""Eight simulated CPU devices and Keras on JAX, for the tests and the doctests alike."""

import importlib
import importlib.util
import os
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import jax
import pytest

import spmd

# Optimizations take longer than the tests' small programs run.
COMPILE_FAST = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
if version("jaxlib").startswith("0.10."):  # newer ones do not know the first flag
    # A fusion is otherwise a module of its own, with MLIR's passes.
    COMPILE_FAST += " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"


def compiles_fast(config: pytest.Config) -> bool:
    """Whether the quick or the slow part runs: they compile without optimizations, and start processes fast.

    Everything else compiles and starts as users' programs do: doctests, examples, the demo, a test that is run
    by name, and with `--optimized`, as `.ci/run` has it, the tests that compare numbers, once more.
    """
    parts = config.getoption("markexpr") in ("not slow", "slow")
    return parts and not config.getoption("optimized")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds our option."""
    words = "compile as users' programs do, whichever part of the tests runs"
    parser.addoption("--optimized", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Sets how JAX starts and compiles, before anything starts it."""
    os.environ.setdefault("KERAS_BACKEND", "jax")  # before Keras is imported: it fixes the backend
    if compiles_fast(config):
        flags = os.environ.get("XLA_FLAGS", "")
        if COMPILE_FAST not in flags:  # this process may be a worker of one that has set it
            os.environ["XLA_FLAGS"] = f"{flags} {COMPILE_FAST}".strip()
        # It would take longer to start.
        os.environ.setdefault("JAXTRIBUTE_COMPILER_PROCESS", "0")
    if config.getoption("markexpr") == "gpu":
        # The processes of a run share the GPUs.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    elif any(map(importlib.util.find_spec, ("jax_cuda12_plugin", "jax_cuda13_plugin"))):
        # All other tests are about processors and simulated devices, whatever the machine has besides.
        jax.config.update("jax_platforms", "cpu")
    spmd.simulate_devices(8)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> None:
    """Imports the package of a module whose doctests run, as an import of the module would.

    Else pytest executes the module once more after its package has imported it, so that there are two of each class; and
    puts it in the package under its name: in the place of `tf.function`, for one.
    """
    root = parent.config.rootpath
    is_ours = any(file_path.is_relative_to(root / name) for name in ("spmd", "frontends"))
    if is_ours and parent.config.getoption("doctestmodules"):
        importlib.import_module(".".join(file_path.parent.relative_to(root).parts))


@pytest.fixture(autouse=True)
def _temporary_files_of_doctests(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Has pytest remove what examples in docstrings make by `tempfile`."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("doctest")))
        yield
