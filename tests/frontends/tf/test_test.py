"""`tf.test`: which accelerators there are."""

import types

import pytest

from frontends import tf
from frontends.tf import test as tf_test


@pytest.fixture
def gpus(monkeypatch):
    """Made-up GPUs, which the test lists."""
    found = []
    names = lambda kind: [  # noqa: E731
        tf.config.LogicalDevice(f"/device:GPU:{index}", kind) for index in range(len(found))
    ]
    monkeypatch.setattr(tf_test, "list_logical_devices", names)
    monkeypatch.setattr(tf_test, "local_devices", lambda platform: found)
    return found


def gpu(version, capability):
    client = types.SimpleNamespace(platform_version=version)
    return types.SimpleNamespace(client=client, compute_capability=capability)


def test_without_gpus():
    assert not tf.test.is_gpu_available()
    assert tf.test.gpu_device_name() == ""


def test_nvidias(gpus):
    gpus.append(gpu("cuda 12090", "8.0"))
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert tf.test.is_gpu_available(cuda_only=True)
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(7, 5))
    assert not tf.test.is_gpu_available(min_cuda_compute_capability=(9, 0))
    gpus.append(gpu("cuda 12090", "10.0"))
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(9, 0))


def test_others(gpus):
    gpus.append(gpu("rocm 70000", "gfx90a"))
    assert tf.test.is_gpu_available()
    assert not tf.test.is_gpu_available(cuda_only=True)


def test_simulated_gpus(simulate):
    simulate("gpu:2")
    assert tf.test.is_gpu_available()
    assert not tf.test.is_gpu_available(cuda_only=True)


def test_what_jax_was_installed_for():
    assert tf.test.is_built_with_xla()
    assert not tf.test.is_built_with_rocm()
    assert tf.test.is_built_with_gpu_support() == tf.test.is_built_with_cuda()


def test_a_process_has_one_temporary_folder():
    assert tf.gfile.IsDirectory(tf.test.get_temp_dir())
    assert tf.test.get_temp_dir() == tf.test.get_temp_dir()
