"""How functions run: as programs, or op by op for debugging."""

from frontends.tf.ops.device_scope import SOFT
from spmd.step import run_op_by_op

_settings = {"eagerly": False}


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Runs `tf.function`s, what `strategy.run` calls and the steps of `fit` op by op, to be looked into.

    `breakpoint()`, `print` and `x.numpy()` see values. Replicas take turns, each until it needs what the others have;
    replica 0 runs in the caller's thread. The numbers are those of the compiled steps; it is slow, as no two replicas run at
    once, and no operations are fused.

    What differs here: a step that raises leaves the variables as they were, and mirrored variables that differ
    after it are an error. Each replica calls the function of a `merge_call`, and a `tf.Variable` that one makes is its
    own. What a replica returns is arrays. Replicas of several processes cannot take turns: `strategy.run` raises
    `spmd.errors.MeshError`. Calls of JAX's transformations (`jax.jit`, `jax.lax.scan`) are traced as ever.

    Args:
        run_eagerly: whether to.

    Examples:
        >>> from frontends import tf
        >>> tf.config.run_functions_eagerly(True)
        >>> tf.function(lambda x: x.numpy() + 1)(tf.constant(1))
        Array(2, dtype=int32)
        >>> strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
        >>> result = strategy.run(
        ...     lambda: print(tf.distribute.get_replica_context().replica_id_in_sync_group)
        ... )
        0
        1
        >>> tf.config.run_functions_eagerly(False)

    Source: `tf.config.run_functions_eagerly`.
    """
    _settings["eagerly"] = bool(run_eagerly)
    run_op_by_op(run_eagerly)


def functions_run_eagerly() -> bool:
    """Tells whether functions run op by op; see `run_functions_eagerly`.

    Source: `tf.config.functions_run_eagerly`.
    """
    return _settings["eagerly"]


def set_soft_device_placement(enabled: bool) -> None:
    """Says whether `tf.device` passes over devices that there are not; in a program, strategies place operations.

    Source: `tf.config.set_soft_device_placement`.
    """
    SOFT["placement"] = bool(enabled)


def get_soft_device_placement() -> bool:
    """Returns what `set_soft_device_placement` was given; True by default.

    Source: `tf.config.get_soft_device_placement`.
    """
    return SOFT["placement"]
