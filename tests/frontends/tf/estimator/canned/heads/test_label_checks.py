"""Labels that a running step finds wrong."""

import jax.numpy as jnp
import pytest

from frontends.tf.estimator.canned.heads.label_checks import (
    LabelCheckHook,
    hooks_of_checks,
    note_check,
)
from frontends.tf.graph import Graph, VariableStore


class _Session:
    def __init__(self, *values):
        self._values = iter(values)

    def output(self, tensor):
        return [jnp.array(value) for value in next(self._values)]


class _Context:
    def __init__(self, *values):
        self.session = _Session(*values)


def test_a_step_is_looked_at_after_the_next():
    hook, context = LabelCheckHook([("flag", "Labels must be >= 0")]), _Context([False, True], [])
    hook.after_run(context, None)
    with pytest.raises(ValueError, match=r"Labels must be >= 0\. Check the labels"):
        hook.after_run(context, None)


def test_the_last_step_is_looked_at_in_the_end():
    hook = LabelCheckHook([("flag", "wrong")])
    hook.after_run(_Context([False]), None)
    hook.end(None)
    hook.after_run(_Context([True]), None)
    with pytest.raises(ValueError, match="wrong"):
        hook.end(None)


def test_checks_of_a_model_function_are_taken_once():
    note_check(True, "nobody looks")
    assert hooks_of_checks() == []
    with Graph(VariableStore()).as_default():
        note_check(True, "wrong")
        (hook,) = hooks_of_checks()
        assert hook.flags == [True]
        assert hooks_of_checks() == []
