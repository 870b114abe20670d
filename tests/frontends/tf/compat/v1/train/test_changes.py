"""Updates of variables; test_optimizer.py has them in replicas and on servers."""

import inspect

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends import tf
from frontends.tf.compat.v1.train import formulas
from frontends.tf.compat.v1.train.changes import Change, apply_changes
from frontends.tf.compat.v1.train.update_rule import UpdateRule

ROWS = tf.IndexedSlices(jnp.array([[1.0], [2.0], [4.0]]), jnp.array([2, 0, 2]), dense_shape=[3, 1])


FORMULAS = [
    formulas.GradientDescent(),
    formulas.Momentum(True),
    formulas.Adagrad(0.1),
    formulas.RMSProp(True),
    formulas.Adadelta(),
    formulas.Ftrl(0.1, True),
    formulas.ProximalAdagrad(0.1),
]


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: type(formula).__name__)
def test_rows_become_what_a_whole_gradient_makes_of_them(formula):
    """Of random rows, some twice, some none, the update is that of a whole gradient; other rows stay."""
    draws = np.random.default_rng(3)
    scalars = [jnp.float32(0.1), jnp.float32(-0.5), *map(jnp.float32, [0.3, 0.2, 0.1, 0.4])]
    count = len(inspect.signature(formula.update).parameters) - 3
    rule = UpdateRule("key", formula, None)
    for rows, ids in ((7, 4), (7, 30), (1, 3), (5, 1)):
        numbers = draws.integers(0, rows + 1, ids)  # the last one stands for none
        values = jnp.asarray(draws.normal(size=(ids, 2)), jnp.float32)
        slices = tf.IndexedSlices(values, jnp.asarray(numbers), (rows, 2))
        before = [jnp.asarray(draws.uniform(0.5, 1, (rows, 2)), jnp.float32) for _ in range(4)]
        before = before[: 1 + len(formula.initial())]
        held = [tf.Variable(one) for one in before]
        apply_changes([Change(held[0], slices, held[1:], rule)], scalars[:count], False)
        new, others = rule.update(before[0], before[1:], (jnp.asarray(slices), *scalars[:count]))
        is_there = np.isin(np.arange(rows), numbers)[:, None]
        for variable, old, whole in zip(held, before, (new, *others), strict=True):
            np.testing.assert_allclose(variable, np.where(is_there, whole, old), rtol=1e-6)
            np.testing.assert_array_equal(
                np.where(is_there, 0, variable), np.where(is_there, 0, old)
            )


def test_adam_moves_all_rows():
    variable = tf.Variable(tf.zeros([3, 1]))
    slots = [tf.Variable(tf.ones([3, 1])), tf.Variable(tf.ones([3, 1]))]
    rule = UpdateRule("key", formulas.Adam(), None)
    apply_changes([Change(variable, ROWS, slots, rule)], [jnp.float32(0.5)] * 6, True)
    np.testing.assert_array_equal(slots[0].numpy(), [[1.5], [0.5], [3]])
    assert np.all(variable.numpy() != 0)


def test_a_step_updates_rows_in_place():
    """No array of the table's size is made: the program needs memory for the rows only."""
    table = tf.Variable(tf.zeros([40_000, 8]))
    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)

    def step(ids):
        optimizer.minimize(lambda: tf.reduce_sum(tf.gather(table, ids) ** 2), var_list=[table])

    compiled = spmd.Step(step, spmd.make_mesh(["cpu:0"])).lower(jnp.arange(64)).compile()
    analysis = compiled.memory_analysis()
    assert analysis.temp_size_in_bytes < 100_000
    assert analysis.alias_size_in_bytes >= 2 * 40_000 * 8 * 4


def test_rows_that_do_not_change_keep_their_slots():
    variable, slot = tf.Variable(tf.zeros([3, 1])), tf.Variable(tf.ones([3, 1]))
    rule = UpdateRule("key", formulas.Momentum(False), None)
    changes = [Change(variable, ROWS, [slot], rule)]
    apply_changes(changes, [jnp.float32(0.5), jnp.float32(0.5)], True)
    np.testing.assert_array_equal(slot.numpy(), [[2.5], [1], [5.5]])
    np.testing.assert_array_equal(variable.numpy(), [[-1.25], [0], [-2.75]])
    update = changes[0].as_update([jnp.float32(0.5)])
    assert update.variable is variable
    assert (update.verb, update.detail) == ("apply", rule)
    assert [one.shape for one in update.operand] == [(3, 1), ()]
