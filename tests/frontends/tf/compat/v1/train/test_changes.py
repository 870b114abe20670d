"""Updates of variables; test_optimizer.py has them in replicas and on servers."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.compat.v1.train.changes import Change, apply_changes, dense
from frontends.tf.compat.v1.train.formulas import Adam, Momentum
from frontends.tf.compat.v1.train.update_rule import UpdateRule

ROWS = tf.IndexedSlices(jnp.array([[1.0], [2.0], [4.0]]), jnp.array([2, 0, 2]), dense_shape=[3, 1])


@pytest.mark.parametrize(
    ("formula", "rows"), [(Momentum(False), [True, False, True]), (Adam(), None)]
)
def test_rows_that_come_twice_add_up_and_a_formula_may_change_others(formula, rows):
    gradient, changed = dense(ROWS, tf.Variable(tf.zeros([3, 1])), formula)
    np.testing.assert_array_equal(gradient, [[2], [0], [5]])
    assert (None if changed is None else changed.tolist()) == rows


def test_rows_that_do_not_change_keep_their_slots():
    variable, slot = tf.Variable(tf.zeros([3, 1])), tf.Variable(tf.ones([3, 1]))
    rule = UpdateRule("key", Momentum(False), None)
    changes = [Change(variable, *dense(ROWS, variable, rule.formula), [slot], rule)]
    apply_changes(changes, [jnp.float32(0.5), jnp.float32(0.5)], True)
    np.testing.assert_array_equal(slot.numpy(), [[2.5], [1], [5.5]])
    np.testing.assert_array_equal(variable.numpy(), [[-1.25], [0], [-2.75]])
    update = changes[0].as_update([jnp.float32(0.5)])
    assert update.variable is variable
    assert (update.verb, update.detail) == ("apply", rule)
    assert [one.shape for one in update.operand] == [(3, 1), ()]
