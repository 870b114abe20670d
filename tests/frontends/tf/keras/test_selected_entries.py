"""Losses of Keras on what a mask took in a program: the numbers are those outside of one."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.selected import SelectionError
from tests.frontends.tf.keras.strategies import mirrored

losses = tf.keras.losses
LABELS = tf.constant([0, 1, 2, 0, 1, 2, 0, 1])
SCORES = tf.nn.softmax(tf.reshape(tf.cos(tf.range(24.0)) * 9, (8, 3)))
TAKEN = tf.constant([True, False] * 4)


def entropy(**options):
    return losses.SparseCategoricalCrossentropy(**options)


LOSSES = {
    "none": lambda y, p: tf.reduce_sum(entropy(reduction="none")(y, p)),
    "sum": lambda y, p: entropy(reduction="sum")(y, p),
    "mean": lambda y, p: entropy()(y, p),
    "logits": lambda y, p: entropy(from_logits=True)(y, p),
    "squares": lambda y, p: losses.MeanSquaredError()(p * 2, p),
    "mean by weights": lambda y, p: entropy(reduction="mean_with_sample_weight")(
        y, p, tf.cast(y, tf.float32) + 1
    ),
    "weights": lambda y, p: entropy(reduction="sum")(y, p, tf.cast(y, tf.float32)),
    "function": lambda y, p: tf.reduce_mean(losses.sparse_categorical_crossentropy(y, p)),
    "short name": lambda y, p: tf.reduce_mean(losses.mse(p * 2, p)),
    "one hot": lambda y, p: tf.reduce_mean(losses.categorical_crossentropy(tf.one_hot(y, 3), p)),
}


def of_entries(loss):
    """Makes a function of all entries that takes some, with its gradient."""

    def call(labels, scores, taken):
        with tf.GradientTape() as tape:
            tape.watch(scores)
            found = loss(tf.boolean_mask(labels, taken), tf.boolean_mask(scores, taken))
        return found, tape.gradient(found, scores)

    return call


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_gradients(name):
    call = of_entries(LOSSES[name])
    expected = call(LABELS, SCORES, TAKEN)
    found = tf.distribute.OneDeviceStrategy("CPU:0").run(call, args=(LABELS, SCORES, TAKEN))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "taken", [[1, 0] * 4, [1, 1, 1, 1, 1, 0, 0, 0], [1, 0, 1, 1, 0, 0, 0, 0], [0] * 8], ids=str
)
def test_a_mean_is_over_the_entries_of_all_replicas(taken):
    taken = tf.cast(tf.constant(taken), tf.bool)
    strategy = mirrored(2)
    slices = tf.data.Dataset.from_tensor_slices((LABELS, SCORES, taken)).batch(8)
    (batch,) = strategy.experimental_distribute_dataset(slices)

    def compute(batch):
        labels, scores, taken = batch
        return entropy()(tf.boolean_mask(labels, taken), tf.boolean_mask(scores, taken))

    total = strategy.reduce("SUM", strategy.run(compute, args=(batch,)), axis=None)
    whole = of_entries(LOSSES["mean"])(LABELS, SCORES, taken)[0] if any(taken) else 0.0
    np.testing.assert_allclose(total, whole, rtol=1e-6)


def test_a_loss_that_fails_stays_as_it_is():
    loss = entropy()
    with pytest.raises(SelectionError):
        tf.distribute.OneDeviceStrategy("CPU:0").run(
            lambda y, p, taken: loss(tf.boolean_mask(y, taken), p), args=(LABELS, SCORES, TAKEN)
        )
    assert loss.reduction == "sum_over_batch_size"


def test_a_model_is_saved_with_such_a_function(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", losses.mse)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert loaded.loss.__name__ == "mean_squared_error"
