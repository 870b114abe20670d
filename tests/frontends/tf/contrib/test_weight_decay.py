"""Optimizers that shrink variables besides."""

import pytest

from frontends import tf

opt = tf.contrib.opt


def test_an_extended_optimizer_shrinks_what_it_is_told_to():
    made = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    optimizer = made(weight_decay=0.5, learning_rate=0.1)
    x, y = tf.Variable(2.0), tf.Variable(2.0)
    optimizer.minimize(lambda: x + y, decay_var_list=[x])
    assert [float(x), float(y)] == pytest.approx([0.9, 1.9])
    optimizer.minimize(lambda: x + y)
    assert [float(x), float(y)] == pytest.approx([0.35, 0.85])
    optimizer.apply_gradients([(tf.constant(1.0), x)], decay_var_list=[y])
    assert float(x) == pytest.approx(0.25)


def test_the_decay_may_change():
    decay = tf.Variable(0.5)
    optimizer = opt.MomentumWOptimizer(lambda: decay, 0.0, 0.9)
    x = tf.Variable(2.0)
    optimizer.apply_gradients([(tf.constant(1.0), x)])
    decay.assign(0.0)
    optimizer.apply_gradients([(tf.constant(1.0), x)])
    assert float(x) == 1.0


def test_rows_without_gradients_stay():
    table = tf.Variable([[1.0], [1.0]])
    rows = tf.IndexedSlices(tf.constant([[0.0]]), tf.constant([1]), (2, 1))
    opt.MomentumWOptimizer(0.5, 0.1, 0.9).apply_gradients([(rows, table)])
    assert table.numpy().ravel().tolist() == [1.0, 0.5]
