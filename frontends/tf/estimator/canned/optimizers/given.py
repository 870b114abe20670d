"""What a canned estimator's `optimizer=` means: a name, an optimizer, or a function that makes one."""

import importlib
import sys
from typing import Any

import jax

from frontends.tf.compat.v1.train import optimizers
from frontends.tf.compat.v1.train.optimizer import Optimizer
from frontends.tf.estimator.canned.optimizers.keras_like import KerasLikeOptimizer
from frontends.tf.estimator.canned.optimizers.rules import RULES
from spmd.replica import outside_of_steps

_BY_NAME_V1 = {
    "Adagrad": optimizers.AdagradOptimizer,
    "Adam": optimizers.AdamOptimizer,
    "Ftrl": optimizers.FtrlOptimizer,
    "RMSProp": optimizers.RMSPropOptimizer,
    "SGD": optimizers.GradientDescentOptimizer,
}
# The class of Keras, and its learning rate, by the name that estimators take.
_BY_NAME = {
    "Adagrad": ("Adagrad", 0.001),
    "Adam": ("Adam", 0.001),
    "Ftrl": ("Ftrl", 0.001),
    "RMSProp": ("RMSprop", 0.001),
    "SGD": ("SGD", 0.01),
}
_CLIPS = "clipnorm", "clipvalue", "global_clipnorm"
# Options of Keras 3 that Keras 2 has not, with the values that mean nothing.
_UNKNOWN = {
    "weight_decay": None,
    "use_ema": False,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}


def optimizer_of_v1(given: Any, learning_rate: float) -> Optimizer:
    """Makes the optimizer of an estimator of TensorFlow 1.

    Args:
        given: a name, an optimizer of `tf.compat.v1.train` or of Keras, or a function that returns one.
        learning_rate: of an optimizer that is named.

    Raises:
        ValueError: there is no optimizer of that name, or it is something else.

    Source: `get_optimizer_instance` of TensorFlow's estimators.
    """
    if isinstance(given, str):
        _check_name(given)
        return _BY_NAME_V1[given](learning_rate=learning_rate)
    return _made(given)


def optimizer_of(given: Any, learning_rate: float | None = None) -> Optimizer:
    """Makes the optimizer of an estimator of TensorFlow 2; see `optimizer_of_v1`.

    Args:
        given: likewise.
        learning_rate: of an optimizer that is named; None is the default of its class.

    Source: `get_optimizer_instance_v2` of TensorFlow's estimators.
    """
    if isinstance(given, str):
        _check_name(given)
        name, rate = _BY_NAME[given]
        return KerasLikeOptimizer(RULES[name]({}), learning_rate or rate)
    return _made(given)


def _check_name(name: str) -> None:
    if name not in _BY_NAME:
        raise ValueError(
            f"Unsupported optimizer name: {name}. Supported names are: {tuple(sorted(_BY_NAME))}"
        )


def _made(given: Any) -> Optimizer:
    found = given
    if callable(found) and not _is_of_keras(found):
        # What it makes of numbers are numbers, not tensors of the step that is traced.
        with jax.ensure_compile_time_eval():
            found = found()
    if isinstance(found, Optimizer):
        return found
    if _is_of_keras(found):
        return _of_keras(found)
    raise ValueError(
        f"The given object is not an Optimizer instance. Given: {found!r}. Pass one of tf.keras.optimizers, one of "
        "tf.compat.v1.train, a name such as 'Adam', or a function that returns an optimizer."
    )


def _is_of_keras(given: Any) -> bool:
    keras = sys.modules.get("keras")  # not imported, there are no optimizers of it
    return keras is not None and isinstance(given, keras.optimizers.Optimizer)


def _of_keras(optimizer: Any) -> Optimizer:
    name = type(optimizer).__name__
    with outside_of_steps():  # its own variables are not those of the model
        config = optimizer.get_config()
    is_own = type(optimizer).__module__.startswith(("keras.", "frontends.tf.keras."))
    strange = [key for key, one in _UNKNOWN.items() if config.get(key, one) not in (None, one)]
    if not is_own or name not in RULES or strange:
        what = f"{name}({strange[0]}=...)" if strange else name
        raise ValueError(
            f"Canned estimators do not train with the optimizer {what}. Take one of {', '.join(sorted(RULES))} of "
            "tf.keras.optimizers, or one of tf.compat.v1.train."
        )
    rate = config["learning_rate"]
    if not isinstance(rate, (int, float)):
        rate = _schedule(optimizer, rate)
    clips = {key: config[key] for key in _CLIPS if config.get(key) is not None}
    return KerasLikeOptimizer(RULES[name](config), rate, clips=clips)


def _schedule(optimizer: Any, config: Any) -> Any:
    """Makes the learning rate as a function of the number of updates."""
    if config["class_name"] == "TracedRate":
        with outside_of_steps():
            tensor = optimizer.learning_rate
        return lambda _: tensor
    return importlib.import_module("keras").optimizers.schedules.deserialize(config)
