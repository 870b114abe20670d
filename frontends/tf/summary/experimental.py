"""`tf.summary.experimental`: the step of summaries without one."""

from frontends.tf import _names
from frontends.tf.summary.writer import get_step as get_step
from frontends.tf.summary.writer import set_step as set_step

__getattr__, __dir__ = _names.attributes("tf.summary.experimental", _names.exported_by(__name__))
