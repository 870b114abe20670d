"""`tf.keras`: Keras 3 on its JAX backend, under the names that TensorFlow scripts use.

    from frontends import tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])

It is Keras itself: layers, models, optimizers, losses and metrics are Keras's own classes, so other code
that uses Keras works with them. Names that Keras 3 dropped and scripts still use are added. Importing
this module imports Keras; `from frontends import tf` alone does not.
"""

from frontends.tf.keras import _select as _select  # isort: skip  (chooses the backend)

from frontends.tf.keras import _added, _fit, _namespace, _patches
from spmd.integrations.keras import patch_keras

patch_keras(_patches.patches())
_fit.connect()
__getattr__, __dir__ = _namespace.build(
    __name__, _added.NAMES, _added.MODULES, _added.SAME_AS, _added.HINTS
)
