"""Eight simulated CPU devices and Keras on JAX, for the tests and the doctests alike."""

import os

import pytest

import spmd

# LLVM's optimizations take longer than the tests' small programs run. Only the quick part goes without:
# the slow part, the examples and the doctests compile as users do.
_COMPILE_FAST = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def pytest_configure(config: pytest.Config) -> None:
    """Sets how JAX starts and compiles, before anything starts it."""
    os.environ.setdefault("KERAS_BACKEND", "jax")  # before Keras is imported: it fixes the backend
    if config.getoption("markexpr") == "not slow":
        flags = os.environ.get("XLA_FLAGS", "")
        if _COMPILE_FAST not in flags:  # this process may be a worker of one that has set it
            os.environ["XLA_FLAGS"] = f"{flags} {_COMPILE_FAST}".strip()
    spmd.simulate_devices(8)
