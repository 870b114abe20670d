"""One program of a comparison: `python -m tests.benchmarks.peer PROGRAM FRONT_END DEVICES DIGITS`.

A program is `module.function` in `tests.benchmarks.programs`. What TensorFlow's users write gets the module
that they call `tf`: TensorFlow's own, or ours.
"""

import importlib
import importlib.util
import os
import sys
from typing import Any

from tests.benchmarks.turns import serve


def front_end(name: str, devices: int) -> Any:
    """Imports what a program calls `tf`, with so many CPU devices; as it is, if that is 0.

    Args:
        name: "tensorflow" with `tf_keras` where that is installed, "tensorflow-keras-3", "jaxtribute", or "none" for
            programs that use neither.
        devices: how many.

    Returns:
        The module, or None.
    """
    if name == "none":
        return None
    if name.startswith("tensorflow"):
        os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3"}
        if name == "tensorflow" and importlib.util.find_spec("tf_keras"):
            # With Keras 3 custom loops of MirroredStrategy fail on several CPU devices.
            os.environ |= {"TF_USE_LEGACY_KERAS": "1"}
        import tensorflow as tf
    else:
        from frontends import tf
    if devices == 0:
        return tf
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(devices)]
    )
    return tf


def main(program: str, name: str, devices: str, digits: str) -> None:
    """Prepares a program, and lets it take its turns."""
    module, function = program.split(".")
    tf = front_end(name, int(devices))
    make = getattr(importlib.import_module(f"tests.benchmarks.programs.{module}"), function)
    serve(*make(tf, int(devices), digits))


if __name__ == "__main__":
    main(*sys.argv[1:])
