"""`tf.sysconfig`: what the installed software was built for."""

import collections
import importlib.metadata
import importlib.util
from typing import Any

from frontends.tf._names import attributes


def get_build_info() -> dict[str, Any]:
    """Describes the installed JAX: whether it computes on GPUs, and with which versions of CUDA.

    What differs here: keys that say how TensorFlow's binary was compiled are missing.

    Returns:
        `is_cuda_build`, `is_rocm_build`, `is_tensorrt_build`; and `cuda_version` and `cudnn_version` with CUDA.

    Examples:
        >>> get_build_info()["is_tensorrt_build"]
        False

    Source: `tf.sysconfig.get_build_info`.
    """
    cuda = next((major for major in ("12", "13") if installed(f"jax_cuda{major}_plugin")), None)
    info = collections.OrderedDict[str, Any](
        is_cuda_build=cuda is not None,
        is_rocm_build=installed("jax_rocm60_plugin") or installed("jax_rocm7_plugin"),
        is_tensorrt_build=False,
    )
    if cuda is not None:
        suffix = f"-cu{cuda}" if cuda == "12" else ""
        info["cuda_version"] = _version(f"nvidia-cuda-runtime{suffix}") or cuda
        info["cudnn_version"] = _version(f"nvidia-cudnn-cu{cuda}") or ""
    return info


def installed(name: str) -> bool:
    """Tells whether a module is installed, without importing it."""
    return importlib.util.find_spec(name) is not None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


__getattr__, __dir__ = attributes("tf.sysconfig", {"get_build_info": get_build_info})
