"""Losses that layers, functional models and functions add, in `fit` and in loops by hand."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras
layers, K = keras.layers, keras.backend
X = np.arange(32, dtype=np.float32).reshape(8, 4) / 32
Y = np.zeros((8, 1), np.float32)


class Penalty(layers.Layer):
    def call(self, inputs):
        self.add_loss(0.1 * tf.reduce_mean(tf.square(inputs)))
        return inputs


def sequential():
    return keras.Sequential(
        [
            keras.Input((4,)),
            Penalty(),
            layers.Dense(
                1, kernel_initializer="ones", kernel_regularizer=keras.regularizers.L2(0.01)
            ),
        ]
    )


def expected(steps, rate=0.01):
    """The losses of gradient descent, by NumPy."""
    kernel, losses = np.ones((4, 1)), []
    for _ in range(steps):
        error = X @ kernel
        losses.append(np.mean(error**2) + 0.1 * np.mean(X**2) + 0.01 * np.sum(kernel**2))
        kernel = kernel - rate * (2 * X.T @ error / 8 + 0.02 * kernel)
    return losses


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_layers_losses_in_fit(replicas):
    with mirrored(replicas).scope():
        model = sequential()
        model.compile(keras.optimizers.SGD(0.01), "mse")
    history = model.fit(X, Y, batch_size=8, epochs=3, verbose=0).history
    assert history["loss"][0] == pytest.approx(expected(1)[0], rel=1e-5)
    assert history["loss"][2] < history["loss"][0]
    assert model.evaluate(X, Y, verbose=0) < history["loss"][2]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_layers_losses_in_a_loop(replicas, compiled):
    strategy = mirrored(replicas)
    with strategy.scope():
        model = sequential()

    def step(rows):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(
                tf.reduce_mean(tf.square(model(rows, training=True)), -1), global_batch_size=8
            )
            loss += tf.nn.scale_regularization_loss(model.losses)
        kernel = model.layers[-1].kernel
        gradient = tf.distribute.get_replica_context().all_reduce(
            "SUM", tape.gradient(loss, kernel)
        )
        kernel.assign(kernel - 0.01 * gradient)
        return loss

    def train(rows):
        return strategy.reduce("SUM", strategy.run(step, args=(rows,)), axis=None)

    train = tf.function(train) if compiled else train
    (rows,) = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensors(X).unbatch().batch(8)
    )
    np.testing.assert_allclose([float(train(rows)) for _ in range(3)], expected(3), rtol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_functional_model_adds_symbolic_losses(replicas):
    with mirrored(replicas).scope():
        x = keras.Input((4,))
        hidden = layers.Dense(1, kernel_initializer="ones", use_bias=False)(x)
        model = keras.Model(x, hidden)
        model.add_loss(tf.reduce_mean(tf.square(hidden)))
        model.add_loss(0.5 * K.mean(layers.Dense(1, kernel_initializer="ones")(x)))
        model.compile(keras.optimizers.SGD(0.0))
    sums = X.sum(1)
    loss = model.fit(X, batch_size=8, verbose=0).history["loss"]
    assert loss == pytest.approx([np.mean(sums**2) + 0.5 * np.mean(sums)], rel=1e-5)
    assert len(model.trainable_weights) == 3, "those of the loss, too"
    model(X)
    np.testing.assert_allclose(sum(map(float, model.losses)), loss[0], rtol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_variational_autoencoder_of_keras_2(replicas):
    def sample(args):
        mean, log_var = args
        batch, dim = tf.shape(mean)[0], K.int_shape(mean)[1]
        return mean + tf.exp(0.5 * log_var) * K.random_normal(shape=(batch, dim))

    with mirrored(replicas).scope():
        keras.utils.set_random_seed(0)
        x = keras.Input((4,))
        hidden = layers.Dense(8, activation="relu")(x)
        mean, log_var = layers.Dense(2)(hidden), layers.Dense(2)(hidden)
        decoded = layers.Dense(4)(layers.Lambda(sample, output_shape=(2,))([mean, log_var]))
        model = keras.Model(x, decoded)
        kl = -0.5 * K.sum(1 + log_var - K.square(mean) - K.exp(log_var), axis=-1)
        model.add_loss(K.mean(keras.losses.mse(x, decoded) * 4 + kl))
        model.compile("adam")
    losses = model.fit(X, epochs=30, batch_size=8, verbose=0).history["loss"]
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    assert len(set(losses)) == 30, "every step draws anew"


def test_functions_are_called_when_losses_are_read():
    model = sequential()
    dense = model.layers[-1]
    model.add_loss(lambda: tf.reduce_sum(dense.kernel))
    dense.add_loss([lambda: 2.0])
    assert [float(loss) for loss in model.losses] == pytest.approx([4.0, 2.0, 0.04])
    dense.kernel.assign(2 * dense.kernel)
    assert float(model.losses[0]) == 8


def test_what_is_no_loss_is_keras_error():
    with pytest.raises(ValueError, match="Received invalid value: 3"):
        sequential().add_loss(3)
