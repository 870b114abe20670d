"""Modules of Flax Linen in models that a strategy trains: `keras.layers.FlaxLayer`."""

import functools

import numpy as np
import pytest
from flax import linen

from frontends import tf

keras = tf.keras
X = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
Y = (X @ [[1.0], [2.0], [3.0]]).astype(np.float32)


class Network(linen.Module):
    normalized: bool = False
    dropped: float = 0.0

    @linen.compact
    def __call__(self, inputs, training=False):
        x = linen.relu(linen.Dense(5)(inputs))
        if self.normalized:
            x = linen.BatchNorm(use_running_average=not training, momentum=0.9)(x)
        x = linen.Dropout(self.dropped, deterministic=not training)(x)
        return linen.Dense(1)(x)


def model_of(module, replicas):
    """A model of the module, under a strategy if there are replicas; else Keras's own."""
    keras.utils.set_random_seed(0)
    layers = [keras.Input((3,)), keras.layers.FlaxLayer(module)]
    if not replicas:
        model = keras.Sequential(layers)
    else:
        devices = [f"/cpu:{index}" for index in range(replicas)]
        with tf.distribute.MirroredStrategy(devices).scope():
            model = keras.Sequential(layers)
    model.compile("adam", "mse")
    return model


def trained(module, replicas, rows=32):
    model = model_of(module, replicas)
    options = {"batch_size": 8, "verbose": 0}
    history = model.fit(X[:rows], Y[:rows], epochs=2, shuffle=False, **options).history["loss"]
    evaluated = model.evaluate(X[:rows], Y[:rows], **options)
    return [history, evaluated, model.predict(X[:rows], **options), *model.get_weights()]


def assert_close(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@functools.cache
def expected(rows):
    """What Keras alone gives."""
    return trained(Network(), 0, rows)


# A last batch of 5 rows leaves the fourth replica empty, and 32 rows fill all.
@pytest.mark.parametrize(
    ("replicas", "rows"),
    [
        (4, 29),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in [(1, 29), (1, 32), (2, 29), (2, 32), (4, 32)]
        ),
    ],
)
def test_parameters(replicas, rows):
    assert_close(trained(Network(), replicas, rows), expected(rows))


@pytest.mark.slow
@pytest.mark.parametrize("rows", [32, 29])
def test_batch_normalization_on_one_replica(rows):
    assert_close(
        trained(Network(normalized=True), 1, rows), trained(Network(normalized=True), 0, rows)
    )


def test_replicas_average_their_statistics():
    module = Network(normalized=True)
    model = model_of(module, 2)
    parameters = model.layers[0].params["params"]
    hidden = np.maximum(X[:8] @ parameters["Dense_0"]["kernel"].numpy(), 0)
    model.fit(X[:8], Y[:8], batch_size=8, verbose=0, shuffle=False)
    statistics = model.layers[0].state["batch_stats"]["BatchNorm_0"]
    np.testing.assert_allclose(statistics["mean"], 0.1 * hidden.mean(0), rtol=1e-5)
    of_replicas = (hidden[:4].var(0) + hidden[4:].var(0)) / 2
    np.testing.assert_allclose(statistics["var"], 0.9 + 0.1 * of_replicas, rtol=1e-5)


def test_statistics_of_rows_that_do_not_fill_the_replicas_are_those_of_each_replica():
    module = Network(normalized=True)
    model = model_of(module, 2)
    parameters = model.layers[0].params["params"]
    hidden = np.maximum(X[:7] @ parameters["Dense_0"]["kernel"].numpy(), 0)
    model.fit(X[:7], Y[:7], batch_size=7, verbose=0, shuffle=False)
    statistics = model.layers[0].state["batch_stats"]["BatchNorm_0"]
    means = (hidden[:4].mean(0) + hidden[4:].mean(0)) / 2
    np.testing.assert_allclose(statistics["mean"], 0.1 * means, rtol=1e-5)


class Dropping(linen.Module):
    @linen.compact
    def __call__(self, inputs, training=False):
        return linen.Dropout(0.5, deterministic=not training)(inputs)


def test_every_replica_drops_others():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    layer = keras.layers.FlaxLayer(Dropping())
    layer.build((None, 64))
    x = tf.ones((8, 64))
    first, second = (
        [np.asarray(v) for v in strategy.experimental_local_results(dropped(strategy, layer, x))]
        for _ in range(2)
    )
    for one, other in ([first[0], first[1]], [first[0], second[0]]):
        assert not np.array_equal(one, other)
    np.testing.assert_array_equal(layer(x), x)


def dropped(strategy, layer, x):
    return strategy.run(lambda: layer(x, training=True))


def test_dropout_is_repeated_with_the_seed_and_absent_from_predictions():
    once, again = trained(Network(dropped=0.5), 2), trained(Network(dropped=0.5), 2)
    for one, other in zip(once, again, strict=True):
        np.testing.assert_array_equal(one, other)
    model = model_of(Network(dropped=0.5), 2)
    np.testing.assert_array_equal(model.predict(X, verbose=0), model.predict(X, verbose=0))
