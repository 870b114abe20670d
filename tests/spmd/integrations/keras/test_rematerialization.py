"""`keras.RematScope` under the engine: the numbers stay, activations go."""

import jax
import keras
import numpy as np
import pytest
from keras import layers

import spmd
from spmd.integrations.keras import distribute_model

X = np.random.default_rng(0).random((64, 16), np.float32)
Y = X.sum(1, keepdims=True)


class Penalized(layers.Layer):
    """Adds a loss while it is called."""

    def call(self, x):
        self.add_loss(0.1 * keras.ops.mean(keras.ops.square(x)))
        return x


def model_with(mode, **options):
    keras.utils.set_random_seed(0)
    with keras.RematScope(mode=mode, **options):
        model = keras.Sequential(
            [
                keras.Input((16,)),
                layers.Dense(32, activation="gelu", kernel_regularizer="l2", name="first"),
                layers.BatchNormalization(),
                layers.Dropout(0.5),
                Penalized(),
                layers.Dense(1),
            ]
        )
    model.compile("adam", "mse")
    return model


def trained(mode, replicas, **options):
    model = model_with(mode, **options)
    distribute_model(model, spmd.make_mesh([f"cpu:{index}" for index in range(replicas)]))
    history = model.fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0).history
    weights = [np.asarray(variable.value) for variable in model.weights]
    return [history["loss"], model.predict(X, verbose=0), *weights]


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("full", {}),
        pytest.param("activations", {}, marks=pytest.mark.slow),
        pytest.param("larger_than", {"output_size_threshold": 4}, marks=pytest.mark.slow),
        pytest.param("list_of_layers", {"layer_names": ["first"]}, marks=pytest.mark.slow),
    ],
)
def test_models_train_to_the_same_weights(mode, options):
    for one, other in zip(trained(mode, 2, **options), trained(None, 2), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_activations_are_computed_again_in_the_backward_pass():
    def loss(mode):
        model = model_with(mode)
        train = [variable.value for variable in model.trainable_variables]
        other = [variable.value for variable in model.non_trainable_variables]

        def of(train):
            outputs, _ = model.stateless_call(train, other, X, training=True)
            return outputs.sum()

        return str(jax.make_jaxpr(jax.grad(of))(train))

    assert "prevent_cse" in loss("full")  # of jax.checkpoint
    assert "prevent_cse" not in loss(None)


def test_each_loss_counts_once():
    """A loss may get the address, and with it the `id`, of one that was collected before."""

    def losses(mode):
        with keras.RematScope(mode=mode):
            model = keras.Sequential([keras.Input((16,)), *(Penalized() for _ in range(40))])

        def of(x):
            return model.stateless_call([], [], x, return_losses=True)[-1]

        return jax.jit(of)(X)

    np.testing.assert_allclose(losses("full"), losses(None), rtol=1e-6)


def test_a_function_may_be_computed_again_too():
    scale = keras.Variable(2.0)

    def function(x, power=2, *, name=None):
        scale.assign(scale + 1)
        return scale * x**power

    y, gradient = jax.value_and_grad(keras.remat(function))(3.0)
    assert (float(y), float(gradient)) == (27.0, 18.0)


def test_a_function_cannot_add_losses():
    penalized = Penalized()
    with pytest.raises(ValueError, match="Make the layers in a scope instead"):
        keras.remat(lambda x: penalized(x))(np.ones((2, 2), np.float32))
