"""Functions of `tf.debugging` that switch something on or off for the whole process."""

import jax

from spmd.topology import log_placements, logs_placements


def enable_check_numerics(
    stack_height_limit: int | None = None, path_length_limit: int | None = None
) -> None:
    """Lets every operation that gives NaN raise FloatingPointError, and every program an error.

    Programs that have run before are compiled anew. Infinity passes here, where TensorFlow raises:
    `tf.debugging.check_numerics` finds it.

    Source: `tf.debugging.enable_check_numerics`.
    """
    jax.config.update("jax_debug_nans", True)
    jax.clear_caches()  # compiled programs would run on without checks


def disable_check_numerics() -> None:
    """Ends what `enable_check_numerics` began.

    Source: `tf.debugging.disable_check_numerics`.
    """
    jax.config.update("jax_debug_nans", False)


def enable_traceback_filtering() -> None:
    """Leaves the frames of libraries out of tracebacks.

    Source: `tf.debugging.enable_traceback_filtering`.
    """
    jax.config.update("jax_traceback_filtering", "auto")


def disable_traceback_filtering() -> None:
    """Shows the frames of libraries in tracebacks.

    Source: `tf.debugging.disable_traceback_filtering`.
    """
    jax.config.update("jax_traceback_filtering", "off")


def is_traceback_filtering_enabled() -> bool:
    """Tells whether tracebacks leave out the frames of JAX.

    Source: `tf.debugging.is_traceback_filtering_enabled`.
    """
    return jax.config.jax_traceback_filtering != "off"  # type: ignore[attr-defined]


def set_log_device_placement(enabled: bool) -> None:
    """Logs where batches, arguments and variables are put, to standard error.

    What differs here: a program runs on all devices of its strategy, so operations have no place of their own to be
    logged. Of an array that code made, `x.sharding` tells where it is.

    Source: `tf.debugging.set_log_device_placement`.
    """
    log_placements(bool(enabled))


def get_log_device_placement() -> bool:
    """Tells whether placements are logged.

    Source: `tf.debugging.get_log_device_placement`.
    """
    return logs_placements()
