"""Out-of-range labels."""

import numpy as np
import pytest

from frontends import tf

LOSS = tf.keras.losses.SparseCategoricalCrossentropy


@pytest.mark.parametrize("from_logits", [True, False])
@pytest.mark.parametrize("shape", [(4,), (4, 1)])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32"])
def test_their_loss_is_nan(from_logits, shape, dtype):
    labels = np.reshape([0, 1, 2, 3], shape).astype(dtype)
    loss = LOSS(from_logits=from_logits, reduction="none")
    found = loss(labels, tf.constant(np.full((4, 3), 1 / 3, np.float32)))
    np.testing.assert_allclose(found, [np.log(3)] * 3 + [np.nan], rtol=1e-6)


@pytest.mark.parametrize(("dtype", "classes"), [("uint8", 256), ("uint8", 300), ("int8", 200)])
def test_types_that_do_not_hold_the_number_of_classes(dtype, classes):
    labels = tf.constant(np.array([0, 100], dtype))
    losses = tf.keras.losses.sparse_categorical_crossentropy
    found = losses(labels, tf.zeros([2, classes]), from_logits=True)
    np.testing.assert_allclose(found, [np.log(classes)] * 2, rtol=1e-5)


def test_negative_labels():
    scores = tf.zeros([2, 3])
    found = tf.keras.losses.sparse_categorical_crossentropy(
        tf.constant([-1, 2]), scores, from_logits=True
    )
    np.testing.assert_allclose(found, [np.nan, np.log(3)], rtol=1e-6)


def test_a_class_that_is_ignored_is_none():
    found = LOSS(from_logits=True, ignore_class=-1)(tf.constant([[0, -1, 2]]), tf.zeros([1, 3, 3]))
    np.testing.assert_allclose(found, np.log(3), rtol=1e-6)


def test_fit_shows_it_and_partial_batches_do_not():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.compile("sgd", LOSS(from_logits=True))
    x, y = np.ones((5, 2), np.float32), np.arange(5) % 3
    history = model.fit(x, y, batch_size=4, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    history = model.fit(x, y + 1, batch_size=4, verbose=0).history
    assert np.isnan(history["loss"]).all()


def test_values_of_the_gradient_stay():
    scores = tf.Variable(np.float32([[1.0, 2.0, 3.0]]))
    with tf.GradientTape() as tape:
        loss = LOSS(from_logits=True)(tf.constant([2]), scores + 0.0)
    expected = tf.nn.softmax(scores) - [[0.0, 0.0, 1.0]]
    np.testing.assert_allclose(tape.gradient(loss, scores), expected, rtol=1e-6)
