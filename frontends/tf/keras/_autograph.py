"""AutoGraph in users' Keras classes: control flow on tensors in `call`, `train_step` and the like."""

import functools
import types
from collections.abc import Callable
from typing import Any

import jax
import keras

from frontends.tf.autograph.converted import converted
from frontends.tf.autograph.status import is_marked, mark
from spmd.integrations.keras import Method
from spmd.source_lines import is_library

# What Keras calls while it traces a program.
_METHODS = (
    *("call", "train_step", "test_step", "predict_step", "compute_loss", "compute_metrics"),
    *("update_state", "result"),
)


def convert_methods(init: Method, /, self: Any, *args: Any, **kwargs: Any) -> None:
    """Wraps `__init__` of layers, losses and metrics: converts the methods of a user's class, once."""
    for cls in type(self).__mro__:
        if not is_library(cls.__module__):
            for name in _METHODS:
                method = vars(cls).get(name)
                if isinstance(method, types.FunctionType) and not is_marked(method):
                    setattr(cls, name, _valued(method) if name == "result" else converted(method))
    init(self, *args, **kwargs)


def _valued(method: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a metric's `result` return the values of variables, which JAX cannot trace as results."""

    @functools.wraps(method)
    def result(*args: Any, **kwargs: Any) -> Any:
        found = converted(method)(*args, **kwargs)
        return jax.tree.map(
            lambda leaf: leaf.value if isinstance(leaf, keras.Variable) else leaf, found
        )

    return mark(result)
