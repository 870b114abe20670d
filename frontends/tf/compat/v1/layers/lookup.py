"""Functions that arguments of layers name: `activation="relu"`, `kernel_initializer="he_normal"`.

Keras is imported only for a name that is none of ours, and for regularizers and constraints.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from frontends.tf.compat.v1.initializers import INITIALIZERS
from frontends.tf.ops.tables import NN

_ACTIVATIONS = {
    name: NN[name]
    for name in ("elu", "gelu", "relu", "relu6", "selu", "sigmoid", "softmax", "softplus", "tanh")
}


def activation_of(given: Any) -> Any:
    """Finds an activation; a function or None stays.

    Raises:
        ValueError: there is none of that name.
    """
    return _ACTIVATIONS[given] if given in _ACTIVATIONS else _keras("activations", given)


def initializer_of(given: Any) -> Any:
    """Finds an initializer; a function, a value or None stays.

    Raises:
        ValueError: there is none of that name.
    """
    if isinstance(given, str) and given in INITIALIZERS:
        return INITIALIZERS[given]()
    return _keras("initializers", given)


def regularizer_of(given: Any) -> Any:
    """Finds a regularizer of Keras; a function or None stays.

    Raises:
        ValueError: there is none of that name.
    """
    return _keras("regularizers", given)


def constraint_of(given: Any) -> Any:
    """Finds a constraint of Keras; a function or None stays.

    Raises:
        ValueError: there is none of that name.
    """
    return _keras("constraints", given)


def _keras(module: str, given: Any) -> Any:
    if not isinstance(given, str | Mapping):
        return given
    return getattr(importlib.import_module("frontends.tf.keras"), module).get(given)
