"""A plain `import keras` after `from frontends import tf` gets Keras on JAX, as it gets TensorFlow's after TensorFlow."""

import importlib
import logging
import os
import sys
from types import ModuleType

from frontends.tf._after_import import after_import

VARIABLE = "KERAS_BACKEND"
_LOG = logging.getLogger(__name__)


def choose() -> None:
    """Chooses JAX as Keras's backend, unless the environment says NumPy or PyTorch, or Keras runs already.

    Keras's own choice, where nothing is said, is TensorFlow. Scripts for TensorFlow choose it, too, and mean the backend of
    the `tf` that they use.
    """
    if "keras" not in sys.modules:
        _choose()


def _choose() -> None:
    chosen = os.environ.get(VARIABLE)
    if chosen in (None, "", "tensorflow"):
        if chosen:
            _LOG.warning(
                "%s is %r. Keras runs on 'jax' instead, as this tf does.", VARIABLE, chosen
            )
        os.environ[VARIABLE] = "jax"


def connect() -> None:
    """Has a plain `import keras` do what the first use of `tf.keras` does, now or when it is imported; idempotent, imports nothing.

    Otherwise its `fit` would neither know the strategy in whose scope a model was made, nor take a `tf.data.Dataset`.
    """
    after_import("keras", _patch, _choose)


def _patch(keras: ModuleType) -> None:
    # Keras 2 has no config; the first use of tf.keras says what to do.
    config = getattr(keras, "config", None)
    if config is not None and config.backend() == "jax":
        importlib.import_module("frontends.tf.keras")
