"""The functions and dtypes of `tf.*`, gathered in one table, and what is imported when it is used."""

from typing import Any

from frontends.tf._names import defined_in
from frontends.tf.dtypes import DTYPES
from frontends.tf.ops import array, control_flow, creation, indexing, tables
from frontends.tf.ops.convert import convert_to_tensor, is_tensor

TABLE: dict[str, Any] = {
    **DTYPES,
    "convert_to_tensor": convert_to_tensor,
    "is_tensor": is_tensor,
    **defined_in(creation.__name__),
    **defined_in(array.__name__),
    **defined_in(indexing.__name__),
    **defined_in(control_flow.__name__),
    **tables.TF,
    "newaxis": None,
}

# Submodules that take long to import, or need Keras.
LAZY = {name: f"frontends.tf.{name}" for name in ("keras", "io", "saved_model", "summary", "train")}
# In TensorFlow, too, these are Keras's.
LAZY |= {
    name: f"frontends.tf.keras.{name}"
    for name in ("initializers", "losses", "metrics", "optimizers")
}
