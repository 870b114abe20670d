"""`tf.summary.experimental`: the step of summaries without one."""

from frontends.tf._names import attributes
from frontends.tf.summary.writer import get_step, set_step

__all__ = ["get_step", "set_step"]

__getattr__, __dir__ = attributes("tf.summary.experimental", {}, present=__all__)
