"""`tf.sysconfig.get_build_info`."""

import importlib.metadata
import importlib.util

import pytest

from frontends import tf
from frontends.tf import sysconfig

VERSIONS = {
    **{"nvidia-cuda-runtime-cu12": "12.9.79", "nvidia-cudnn-cu12": "9.10"},
    "nvidia-cudnn-cu13": "9.20",
}


@pytest.fixture
def packages(monkeypatch):
    """The modules that are installed, and VERSIONS."""
    found = set()

    def version(name):
        if name not in VERSIONS:
            raise importlib.metadata.PackageNotFoundError(name)
        return VERSIONS[name]

    monkeypatch.setattr(sysconfig, "installed", lambda name: name in found)
    monkeypatch.setattr(importlib.metadata, "version", version)
    return found


def test_without_accelerators(packages):
    info = tf.sysconfig.get_build_info()
    assert info == {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


@pytest.mark.parametrize(
    ("plugin", "cuda", "cudnn"),
    [("jax_cuda12_plugin", "12.9.79", "9.10"), ("jax_cuda13_plugin", "13", "9.20")],
)
def test_with_cuda(packages, plugin, cuda, cudnn):
    packages.add(plugin)
    info = tf.sysconfig.get_build_info()
    assert (info["is_cuda_build"], info["cuda_version"], info["cudnn_version"]) == (
        True,
        cuda,
        cudnn,
    )
    assert tf.test.is_built_with_cuda()


def test_with_rocm(packages):
    packages.add("jax_rocm7_plugin")
    assert tf.sysconfig.get_build_info()["is_rocm_build"]


def test_installed():
    assert sysconfig.installed("jax")
    assert not sysconfig.installed("jax_cuda99_plugin")
