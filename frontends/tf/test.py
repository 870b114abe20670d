"""`tf.test`: unit tests, whether there are GPUs, and whether the installed JAX can use them."""

import atexit
import functools
import shutil
import tempfile
from collections.abc import Sequence

from frontends.tf._names import attributes, defined_in
from frontends.tf.config.devices import list_logical_devices
from frontends.tf.sysconfig import get_build_info
from spmd.topology import local_devices


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: Sequence[int] | None = None
) -> bool:
    """Tells whether there is a visible GPU; starts the backend.

    Args:
        cuda_only: of NVIDIA.
        min_cuda_compute_capability: that it has at least, as two numbers.

    Examples:
        >>> is_gpu_available()
        False

    Source: `tf.test.is_gpu_available`.
    """
    if not list_logical_devices("GPU"):
        return False
    for device in local_devices("gpu"):
        capability = getattr(device, "compute_capability", None)
        is_cuda = device.client.platform_version.lower().startswith("cuda")
        if cuda_only and not is_cuda:
            continue
        if min_cuda_compute_capability is None:
            return True
        if capability and tuple(map(int, str(capability).split("."))) >= tuple(
            min_cuda_compute_capability
        ):
            return True
    return False


def gpu_device_name() -> str:
    """Names the first visible GPU; starts the backend.

    Returns:
        `"/device:GPU:0"`, or `""` if there is none.

    Examples:
        >>> gpu_device_name()
        ''

    Source: `tf.test.gpu_device_name`.
    """
    gpus = list_logical_devices("GPU")
    return gpus[0].name if gpus else ""


def is_built_with_cuda() -> bool:
    """Tells whether JAX's plug-in for CUDA is installed.

    Source: `tf.test.is_built_with_cuda`.
    """
    return bool(get_build_info()["is_cuda_build"])


def is_built_with_rocm() -> bool:
    """Tells whether JAX's plug-in for ROCm is installed.

    Source: `tf.test.is_built_with_rocm`.
    """
    return bool(get_build_info()["is_rocm_build"])


def is_built_with_gpu_support() -> bool:
    """Tells whether JAX's plug-in for CUDA or ROCm is installed.

    Source: `tf.test.is_built_with_gpu_support`.
    """
    return is_built_with_cuda() or is_built_with_rocm()


def is_built_with_xla() -> bool:
    """Tells whether XLA is there: always.

    Source: `tf.test.is_built_with_xla`.
    """
    return True


@functools.cache
def get_temp_dir() -> str:
    """Returns a folder for tests, the same for the whole process, which is removed at its end.

    Source: `tf.compat.v1.test.get_temp_dir`.
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


__getattr__, __dir__ = attributes(
    "tf.test",
    defined_in(__name__),
    borrowed={
        "TestCase": "frontends.tf.test_case",
        "main": "unittest",
        "mock": "unittest",
    },
)
