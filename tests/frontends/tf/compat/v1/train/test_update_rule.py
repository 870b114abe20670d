"""A formula as servers run it."""

import jax.numpy as jnp
import numpy as np

from frontends.tf.compat.v1.train.formulas import Adagrad, Momentum
from frontends.tf.compat.v1.train.update_rule import UpdateRule

VALUE = np.ones((2, 1), np.float32)


def test_a_rule_has_slots_of_the_type_of_the_value_and_applies_the_formula():
    rule = UpdateRule("key", Adagrad(3.0), None)
    (slot,) = rule.slots(VALUE.astype(np.float16))
    assert (slot.dtype, slot.tolist()) == (np.float16, [[3.0], [3.0]])
    operand = jnp.array([[1.0], [0.0]]), jnp.float32(0.5)
    value, (slot,) = rule.update(VALUE, rule.slots(VALUE), operand)
    np.testing.assert_allclose(value, [[0.75], [1.0]])
    np.testing.assert_allclose(slot, [[4.0], [3.0]])
    assert rule.is_by_row(VALUE)
    assert not UpdateRule("key", Momentum(False), None).is_by_row(VALUE)


def test_a_constraint_is_of_the_whole_value():
    rule = UpdateRule("key", Adagrad(3.0), lambda value: value / value.sum())
    operand = jnp.array([[1.0], [0.0]]), jnp.float32(0.5)
    value, _ = rule.update(VALUE, rule.slots(VALUE), operand)
    np.testing.assert_allclose(value, [[3 / 7], [4 / 7]], rtol=1e-6)
    assert not rule.is_by_row(VALUE)
