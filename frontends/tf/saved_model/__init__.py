"""`tf.saved_model`: models on disk that predict without the code that made them.

`save` does not write TensorFlow's SavedModel, which only TensorFlow can run, but a directory with the
program in StableHLO (`jax.export`) and the weights (Orbax): see docs/export.md. For a SavedModel that
TensorFlow serves, call `model.export(path, format="tf_saved_model")` with TensorFlow installed.
"""

from frontends.tf import _names
from frontends.tf.saved_model import signature_constants, tag_constants
from frontends.tf.saved_model.loading import LoadedModel as LoadedModel
from frontends.tf.saved_model.loading import contains_saved_model as contains_saved_model
from frontends.tf.saved_model.loading import load as load
from frontends.tf.saved_model.options import LoadOptions as LoadOptions
from frontends.tf.saved_model.options import SaveOptions as SaveOptions
from frontends.tf.saved_model.saving import save as save

__getattr__, __dir__ = _names.attributes(
    "tf.saved_model",
    {
        **_names.exported_by(__name__),
        **{
            name: value
            for module in (signature_constants, tag_constants)
            for name, value in vars(module).items()
            if name.isupper() and name != "EVAL"
        },
        "signature_constants": signature_constants,
        "tag_constants": tag_constants,
    },
)
