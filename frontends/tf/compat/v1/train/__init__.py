"""`tf.compat.v1.train`: optimizers, the global step, learning rates and checkpoints of TensorFlow 1, and all of `tf.train`."""

from frontends.tf import _names
from frontends.tf.compat.v1.train import optimizers, restoring, scaffold, schedules, steps
from frontends.tf.compat.v1.train.optimizer import Optimizer
from frontends.tf.compat.v1.train.summary_iterator import summary_iterator

__getattr__, __dir__ = _names.attributes(
    "tf.compat.v1.train",
    {
        **_names.defined_in(optimizers.__name__),
        **_names.defined_in(restoring.__name__),
        **_names.defined_in(scaffold.__name__),
        **_names.defined_in(schedules.__name__),
        **_names.defined_in(steps.__name__),
        "Optimizer": Optimizer,
        "summary_iterator": summary_iterator,
        "piecewise_constant_decay": schedules.piecewise_constant,
    },
    borrowed={"checkpoint_exists": "frontends.tf.train.checkpoint_state"},
    rest="frontends.tf.train",
)
