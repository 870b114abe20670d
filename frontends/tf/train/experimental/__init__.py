"""`tf.train.experimental`: Python state in checkpoints, and a switch of TensorFlow 2.0 to 2.3."""

from frontends.tf import _names
from frontends.tf.train.experimental.python_state import PythonState as PythonState

__getattr__, __dir__ = _names.attributes(
    "tf.train.experimental",
    _names.exported_by(__name__),
    borrowed=dict.fromkeys(
        ("disable_mixed_precision_graph_rewrite", "enable_mixed_precision_graph_rewrite"),
        "frontends.tf.compat.v1.mixed_precision",
    ),
)
