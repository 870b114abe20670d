"""Settings that change what numbers come out: TensorFloat-32, and determinism."""

import warnings

import jax

from frontends.tf.ops.seeds import require_seeds
from spmd.errors import MeshError
from spmd.topology import compute_deterministically

_PRECISION = "jax_default_matmul_precision"


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Says whether matrix products and convolutions of float32 may be computed with fewer bits: on by default.

    On NVIDIA's GPUs these are the 19 bits of TensorFloat-32. Programs that are compiled already stay as they are.

    What differs here: on TPUs, whose default is bfloat16, False asks for float32 as well.

    Args:
        enabled: False computes with all bits.

    Source: `tf.config.experimental.enable_tensor_float_32_execution`.
    """
    jax.config.update(_PRECISION, None if enabled else "float32")


def tensor_float_32_execution_enabled() -> bool:
    """Tells whether products of float32 may be computed with fewer bits.

    Source: `tf.config.experimental.tensor_float_32_execution_enabled`.
    """
    return getattr(jax.config, _PRECISION) not in ("float32", "highest")


def enable_op_determinism() -> None:
    """Lets a script that is run again compute the same bits; call it before anything that makes an array.

    XLA then chooses only deterministic operations on GPUs; on processors and TPUs it does so anyway. Operations that
    draw random numbers need a seed from now on, and so does `Dataset.shuffle`: `tf.random.set_seed(1)`.

    What differs here: it warns where GPUs are in use already, since XLA reads the choice when it starts.

    Source: `tf.config.experimental.enable_op_determinism`.
    """
    require_seeds()
    try:
        compute_deterministically()
    except MeshError as error:
        if jax.default_backend() == "gpu":
            warnings.warn(f"tf.config.experimental.enable_op_determinism: {error}", stacklevel=2)
