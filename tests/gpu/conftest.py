"""Tests on GPUs, `make test-gpu`: everything else is tested on simulated devices."""

import importlib
from collections.abc import Iterator

import jax
import pytest

from frontends import tf


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of this folder."""
    for item in items:
        if "tests/gpu/" in item.path.as_posix():
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(scope="session", autouse=True)
def _backend() -> None:
    """Starts JAX and Keras, which set variables of the environment."""
    jax.devices()
    importlib.import_module("keras")


@pytest.fixture(autouse=True)
def _gpu(pytestconfig: pytest.Config) -> None:
    if tf.config.list_physical_devices("GPU"):
        return
    if pytestconfig.getoption("markexpr") == "gpu":
        pytest.fail(
            "JAX finds no GPU here. Is its plug-in installed? .venv/bin/pip install 'jax[cuda13]'"
        )
    pytest.skip("for GPUs: make test-gpu")


@pytest.fixture
def full_precision() -> Iterator[None]:
    """Has products of float32 computed with all bits, so that they compare with a processor's."""
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(before)
