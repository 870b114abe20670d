"""Makes sure that Keras runs on JAX: importing this chooses the backend, then imports Keras.

Keras reads the environment variable KERAS_BACKEND once, when it is first imported, and cannot change
the backend afterwards.
"""

import os
import sys
from importlib.util import find_spec

from frontends.tf._keras_backend import VARIABLE, choose
from frontends.tf.keras._late_pyplot import pyplot_when_used


def require_jax_backend() -> None:
    """Chooses JAX as the backend of Keras, if nothing else is chosen; imports nothing.

    Raises:
        ImportError: Keras is not installed, or runs, or would run, on another backend.
    """
    imported = sys.modules.get("keras")
    chosen = os.environ.get(VARIABLE)
    if imported is not None:
        backend = imported.config.backend()
        if backend != "jax":
            where = f"{VARIABLE} is {chosen!r}" if chosen else f"{VARIABLE} was not set"
            raise ImportError(
                f"tf.keras needs Keras on the backend 'jax', but Keras was imported before with "
                f"{backend!r} ({where} when it was). Import frontends.tf.keras first, or put this "
                f'line before every import: import os; os.environ["{VARIABLE}"] = "jax"'
            )
    elif find_spec("keras") is None:
        raise ImportError(
            'tf.keras needs Keras 3, which is not installed. Install it: pip install "jaxtribute[keras]"'
        )
    elif chosen not in (None, "", "jax", "tensorflow"):
        raise ImportError(
            f"tf.keras needs Keras on the backend 'jax', but the environment variable {VARIABLE} is "
            f"{chosen!r}. Unset it, or set it before Python starts: export {VARIABLE}=jax"
        )
    else:
        choose()


require_jax_backend()
with pyplot_when_used():
    import keras as _keras  # noqa: F401
