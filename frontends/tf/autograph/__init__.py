"""`tf.autograph`: Python's control flow on tensors, in functions that become programs.

`if`, `while`, `for`, `break`, `continue`, `return`, `and`, `or`, `not` and conditional expressions whose condition a
program computes become parts of the program, in `tf.function`s, in what `strategy.run` runs, in what they call, and
in the methods of users' Keras layers and models.
"""

from frontends.tf import _names
from frontends.tf.autograph import experimental as experimental
from frontends.tf.autograph.options import do_not_convert as do_not_convert
from frontends.tf.autograph.options import set_verbosity as set_verbosity
from frontends.tf.autograph.options import to_code as to_code
from frontends.tf.autograph.options import to_graph as to_graph
from frontends.tf.autograph.options import trace as trace

__getattr__, __dir__ = _names.attributes(
    "tf.autograph", _names.exported_by(__name__) | {"experimental": experimental}
)
