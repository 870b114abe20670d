"""`tf.saved_model`: models on disk that predict without the code that made them.

`save` does not write TensorFlow's SavedModel, which only TensorFlow can run, but a directory with the
program in StableHLO (`jax.export`) and the weights (Orbax): see docs/export.md. For a SavedModel that
TensorFlow serves, call `model.export(path, format="tf_saved_model")` with TensorFlow installed.
"""

from frontends.tf._names import attributes
from frontends.tf.saved_model.loading import LoadedModel, contains_saved_model, load
from frontends.tf.saved_model.options import LoadOptions, SaveOptions
from frontends.tf.saved_model.saving import save

DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
SERVING = "serve"

__all__ = [
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY",
    "SERVING",
    "LoadOptions",
    "LoadedModel",
    "SaveOptions",
    "contains_saved_model",
    "load",
    "save",
]

__getattr__, __dir__ = attributes("tf.saved_model", {}, present=__all__)
