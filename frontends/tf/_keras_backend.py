"""A plain `import keras` after `from frontends import tf` gets Keras on JAX, as it gets TensorFlow's after TensorFlow."""

import os
import sys

VARIABLE = "KERAS_BACKEND"


def choose() -> None:
    """Chooses JAX as Keras's backend, unless the environment says another, or Keras runs already.

    Keras's own choice, where nothing is said, is TensorFlow, which need not be installed here.
    """
    if "keras" not in sys.modules and not os.environ.get(VARIABLE):
        os.environ[VARIABLE] = "jax"
