"""`tf.zeros_initializer` and its kin: initializers of Keras, which is imported when one is made."""

import functools
import importlib
from collections.abc import Callable
from typing import Any


def _make(name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(importlib.import_module("frontends.tf.keras").initializers, name)(
        *args, **kwargs
    )


def _make_drawing(name: str, *args: Any, **kwargs: Any) -> Any:
    module = importlib.import_module("frontends.tf.keras._drawing_initializers")
    return getattr(module, name)(*args, **kwargs)


INITIALIZERS: dict[str, Callable[..., Any]] = {
    "constant_initializer": functools.partial(_make, "Constant"),
    "ones_initializer": functools.partial(_make, "Ones"),
    "random_normal_initializer": functools.partial(_make_drawing, "RandomNormal"),
    "random_uniform_initializer": functools.partial(_make_drawing, "RandomUniform"),
    "zeros_initializer": functools.partial(_make, "Zeros"),
}
