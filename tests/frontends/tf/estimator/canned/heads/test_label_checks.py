"""Labels that a running step finds wrong."""

import numpy as np
import pytest

from frontends.tf.estimator.canned.heads.label_checks import LabelCheckHook
from frontends.tf.graph import LabelCheck


class _Context:
    def __init__(self, *ranges):
        self.session, self._ranges = self, list(ranges)

    def output(self, tensor):
        return [np.array(one) for one in self._ranges]


def _hook():
    return LabelCheckHook([LabelCheck("found", 2, "too small", "too large", "Do this.")])


def test_a_step_is_looked_at_after_the_next():
    hook = _hook()
    hook.after_run(_Context([0, 2], [1, 3]), None)
    with pytest.raises(ValueError, match=r"^too large, but are from 0 to 3\. Do this\.$"):
        hook.after_run(_Context([0, 0]), None)


def test_the_last_step_is_looked_at_in_the_end():
    hook = _hook()
    hook.after_run(_Context([0, 2]), None)
    hook.end(None)
    hook.after_run(_Context([-1, 2]), None)
    with pytest.raises(ValueError, match="too small, but are from -1 to 2"):
        hook.end(None)
