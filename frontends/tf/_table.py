"""The functions and dtypes of `tf.*`, gathered in one table, and what is imported when it is used."""

from importlib.util import find_spec
from typing import Any

from frontends.tf.dtypes import DTYPES
from frontends.tf.ops import array, control_flow, creation, indexing, tables

TABLE: dict[str, Any] = {
    **DTYPES,
    **creation.TABLE,
    **array.TABLE,
    **indexing.TABLE,
    **control_flow.TABLE,
    **tables.TF,
    "newaxis": None,
}

# Submodules that take long to import, or need Keras; those that exist.
LAZY = {
    name: f"frontends.tf.{name}"
    for name in ("keras", "io", "saved_model", "summary", "train")
    if find_spec(f"frontends.tf.{name}") is not None
}
# In TensorFlow, too, these are Keras's.
LAZY |= {
    name: f"frontends.tf.keras.{name}"
    for name in ("initializers", "losses", "metrics", "optimizers")
}
