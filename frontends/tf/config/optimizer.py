"""`tf.config.optimizer`: settings of TensorFlow's graph optimizer; XLA optimizes every program, so they are noted only."""

from collections.abc import Iterable, Mapping
from typing import Any

from frontends.tf._names import attributes, defined_in

_JIT = {"enabled": False}
_OPTIONS: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}


def set_jit(enabled: bool | str) -> None:
    """Notes whether XLA compiles; here it compiles every `tf.function` and every step, whatever is noted.

    Args:
        enabled: True or `"autoclustering"`; anything else stands for False.

    Source: `tf.config.optimizer.set_jit`.
    """
    _JIT["enabled"] = enabled is True or enabled == "autoclustering"


def get_jit() -> str:
    """Returns what `set_jit` noted: `"autoclustering"`, or `""`.

    Source: `tf.config.optimizer.get_jit`.
    """
    return "autoclustering" if _JIT["enabled"] else ""


def set_experimental_options(options: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
    """Notes options of TensorFlow's graph optimizer. XLA has its own, and takes none of them.

    What differs here: `{"auto_mixed_precision": True}` changes no types. Keras's policies do:
    `tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")`.

    Args:
        options: by name; the others stay as they are.

    Raises:
        TypeError: `options` is no dictionary.

    Source: `tf.config.optimizer.set_experimental_options`.
    """
    _OPTIONS.update(options)


def get_experimental_options() -> dict[str, Any]:
    """Returns what `set_experimental_options` noted.

    Source: `tf.config.optimizer.get_experimental_options`.
    """
    return dict(_OPTIONS)


__getattr__, __dir__ = attributes("tf.config.optimizer", defined_in(__name__))
