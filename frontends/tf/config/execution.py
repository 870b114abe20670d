"""How functions run: as programs, or as Python for debugging."""

from spmd.step import run_op_by_op

_settings = {"eagerly": False, "soft": True}


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Runs `tf.function`s as Python, one operation after another, so that breakpoints and prints see values.

    What differs here: what `strategy.run` calls, and the steps of `fit`, stay programs.

    Examples:
        >>> from frontends import tf
        >>> tf.config.run_functions_eagerly(True)
        >>> tf.function(lambda x: x.numpy() + 1)(tf.constant(1))
        Array(2, dtype=int32)
        >>> tf.config.run_functions_eagerly(False)

    Source: `tf.config.run_functions_eagerly`.
    """
    _settings["eagerly"] = bool(run_eagerly)
    run_op_by_op(run_eagerly)


def functions_run_eagerly() -> bool:
    """Tells whether `tf.function`s run as Python; see `run_functions_eagerly`.

    Source: `tf.config.functions_run_eagerly`.
    """
    return _settings["eagerly"]


def set_soft_device_placement(enabled: bool) -> None:
    """Notes whether operations may run on another device than asked for; here strategies place them.

    Source: `tf.config.set_soft_device_placement`.
    """
    _settings["soft"] = bool(enabled)


def get_soft_device_placement() -> bool:
    """Returns what `set_soft_device_placement` was given; True by default.

    Source: `tf.config.get_soft_device_placement`.
    """
    return _settings["soft"]
