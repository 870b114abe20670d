"""`tf.nn.experimental`: dropout of seeds or functions of one's own."""

from frontends.tf._names import attributes
from frontends.tf._symbolic import recordable
from frontends.tf.ops import statistics
from frontends.tf.ops.convert import picked

__getattr__, __dir__ = attributes(
    "tf.nn.experimental",
    recordable("tf.nn.experimental", picked(statistics, "general_dropout", "stateless_dropout")),
)
