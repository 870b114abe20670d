"""`tf.zeros_initializer` and its kin: Keras's initializers, which are imported when one is made."""

import functools
import importlib
from collections.abc import Callable
from typing import Any


def _make(name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(importlib.import_module("frontends.tf.keras").initializers, name)(
        *args, **kwargs
    )


INITIALIZERS: dict[str, Callable[..., Any]] = {
    f"{name}_initializer": functools.partial(_make, keras_name)
    for name, keras_name in {
        "constant": "Constant",
        "ones": "Ones",
        "random_normal": "RandomNormal",
        "random_uniform": "RandomUniform",
        "zeros": "Zeros",
    }.items()
}
