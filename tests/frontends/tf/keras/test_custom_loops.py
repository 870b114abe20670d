"""Keras in custom loops of `tf`: the same numbers on any number of replicas, in all the places."""

import json

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras
Dense = keras.layers.Dense
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(22, 5)).astype(np.float32)
Y = RANDOM.integers(0, 3, 22).astype(np.int32)
BATCH = 8  # the last one has 6 rows


STRATEGIES = {
    "default": tf.distribute.get_strategy,
    "one device": lambda: tf.distribute.OneDeviceStrategy("cpu:0"),
    "mirrored": lambda: mirrored(2),
}


class Loop:
    """The loop of TensorFlow's tutorials."""

    def __init__(self, strategy, make_model, make_optimizer, compiled=True):
        keras.utils.set_random_seed(0)
        self.strategy = strategy
        with strategy.scope():
            self.model = make_model()
            self.optimizer = make_optimizer()
            self.loss = keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, reduction=keras.losses.Reduction.NONE
            )
            self.accuracy = keras.metrics.SparseCategoricalAccuracy()
        self.step = tf.function(self.distributed) if compiled else self.distributed

    def replica(self, batch):
        features, labels = batch
        with tf.GradientTape() as tape:
            predictions = self.model(features, training=True)
            loss = tf.nn.compute_average_loss(
                self.loss(labels, predictions), global_batch_size=BATCH
            )
            if self.model.losses:
                loss += tf.nn.scale_regularization_loss(tf.add_n(self.model.losses))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        self.accuracy.update_state(labels, predictions)
        return loss

    def distributed(self, batch):
        losses = self.strategy.run(self.replica, args=(batch,))
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    def train(self, epochs=2):
        dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)
        batches = self.strategy.experimental_distribute_dataset(dataset)
        return [float(self.step(batch)) for _ in range(epochs) for batch in batches]


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = Dense(8, activation="relu")
        self.nested = keras.Sequential([Dense(4), Dense(3)])

    def call(self, inputs, training=False):
        return self.nested(self.hidden(inputs))


def functional():
    inputs = keras.Input((5,))
    shared = Dense(5, activation="tanh")
    nested = keras.Sequential([Dense(4)])
    return keras.Model(inputs, Dense(3)(nested(shared(shared(inputs)))))


MODELS = {
    "built in the step": lambda: keras.Sequential([Dense(8, activation="relu"), Dense(3)]),
    "subclassed": Subclassed,
    "functional, nested, shared": functional,
    "regularized": lambda: keras.Sequential(
        [Dense(8, kernel_regularizer=keras.regularizers.L2(1e-2), input_shape=(5,)), Dense(3)]
    ),
    "synchronized statistics": lambda: keras.Sequential(
        [Dense(8), keras.layers.experimental.SyncBatchNormalization(), Dense(3)]
    ),
    "embedding": lambda: keras.Sequential(
        [
            keras.layers.Lambda(lambda x: tf.cast(tf.abs(x) * 3, tf.int32)),
            keras.layers.Embedding(20, 4),
            keras.layers.Flatten(),
            Dense(3),
        ]
    ),
    "recurrent": lambda: keras.Sequential(
        [keras.layers.Reshape((5, 1)), keras.layers.LSTM(4), Dense(3)]
    ),
}


# The others show nothing that tests below, or tests/spmd/integrations/keras/test_adapter.py, do not show every day.
SHOWN = ("built in the step",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SHOWN else pytest.mark.slow) for name in MODELS]
)
def test_strategies_train_alike(name):
    loops = {
        key: Loop(make(), MODELS[name], lambda: keras.optimizers.Adam(0.01))
        for key, make in STRATEGIES.items()
        if key != "one device" or name == "regularized"
    }
    losses = {key: loop.train(epochs=1) for key, loop in loops.items()}
    for key, loop in loops.items():
        np.testing.assert_allclose(losses[key], losses["default"], rtol=1e-5)
        assert float(loop.accuracy.result()) == float(loops["default"].accuracy.result())
        assert float(loop.accuracy.count.value) == len(X)
        assert loop.step.experimental_get_tracing_count() == 1


class AveragingLoop(Loop):
    """A loop whose loss object averages over the rows: Keras's default."""

    def __init__(self, strategy, reduction="sum_over_batch_size"):
        super().__init__(strategy, lambda: keras.Sequential([Dense(3)]), keras.optimizers.Adam)
        self.loss = keras.losses.SparseCategoricalCrossentropy(True, reduction=reduction)

    def replica(self, batch):
        features, labels = batch
        with tf.GradientTape() as tape:
            loss = self.loss(labels, self.model(features), sample_weight=1.0 + features[:, 0] ** 2)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss


@pytest.mark.parametrize(
    "reduction",
    ["mean_with_sample_weight", pytest.param("sum_over_batch_size", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("replicas", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_a_loss_that_averages_is_the_replica_s_share(reduction, replicas):
    """Also of the last batch, whose 6 rows are dealt out as 3 and 3 to two, and as 2, 2, 2 and 0 to four."""
    one, several = (AveragingLoop(mirrored(n), reduction).train() for n in (1, replicas))
    np.testing.assert_allclose(several, one, rtol=1e-5)


def batches_on(strategy):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)
    return strategy.experimental_distribute_dataset(dataset)


def compiled_model(strategy):
    keras.utils.set_random_seed(0)
    with strategy.scope():
        model = keras.Sequential([keras.Input((5,)), Dense(3)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("sgd", loss, metrics=["accuracy"])
    return model


@pytest.mark.parametrize("replicas", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_loop_may_call_the_step_of_a_compiled_model(replicas):
    fitted = compiled_model(mirrored(replicas))
    history = fitted.fit(X, Y, batch_size=BATCH, shuffle=False, verbose=0).history
    model = compiled_model(mirrored(replicas))
    step = tf.function(lambda batch: mirrored(replicas).run(model.train_step, args=(batch,)))
    for batch in batches_on(mirrored(replicas)):
        step(batch)
    results = {name: float(value) for name, value in model.get_metrics_result().items()}
    assert results == pytest.approx({name: value[0] for name, value in history.items()}, rel=1e-5)
    for one, other in zip(model.get_weights(), fitted.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_a_loop_may_update_the_metrics_of_a_compiled_model():
    strategy = mirrored(2)
    model = compiled_model(strategy)
    expected = model.evaluate(X, Y, verbose=0, return_dict=True)["accuracy"]
    model.reset_metrics()

    @tf.function
    def update(batch):
        def replica(x, y):
            model.compute_metrics(x, y, model(x))

        strategy.run(replica, args=batch)

    for batch in batches_on(strategy):
        update(batch)
    assert float(model.get_metrics_result()["accuracy"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    "make", [keras.metrics.F1Score, pytest.param(keras.metrics.R2Score, marks=pytest.mark.slow)]
)
def test_metrics_that_make_their_variables_late(make):
    results = []
    for replicas in (1, 2):
        strategy = mirrored(replicas)
        with strategy.scope():
            metric = make()
        update = tf.function(
            lambda batch, s=strategy, m=metric: s.run(
                lambda x, y: m.update_state(tf.one_hot(y, 3), tf.nn.softmax(x[:, :3])), args=batch
            )
        )
        for batch in batches_on(strategy):
            update(batch)
        results.append(np.asarray(metric.result()))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)
    assert np.any(results[0] != 0)


def test_run_without_tf_function():
    compiled = Loop(mirrored(2), MODELS["regularized"], lambda: keras.optimizers.SGD(0.1))
    called = Loop(mirrored(2), MODELS["regularized"], lambda: keras.optimizers.SGD(0.1), False)
    np.testing.assert_allclose(compiled.train(epochs=1), called.train(epochs=1), rtol=1e-6)


@pytest.mark.slow
def test_the_loop_that_runs_eagerly():
    expected = Loop(
        tf.distribute.get_strategy(), MODELS["regularized"], lambda: keras.optimizers.SGD(0.1)
    )
    loop = Loop(
        tf.distribute.get_strategy(), MODELS["regularized"], lambda: keras.optimizers.SGD(0.1)
    )
    losses = [
        float(loop.replica((X[i : i + BATCH], Y[i : i + BATCH]))) for i in range(0, 16, BATCH)
    ]
    np.testing.assert_allclose(losses, expected.train(epochs=1)[:2], rtol=1e-5)


def test_weights_saved_and_loaded_between_steps(tmp_path):
    loop = Loop(mirrored(2), MODELS["subclassed"], lambda: keras.optimizers.SGD(0.1))
    loop.train(epochs=1)
    path = str(tmp_path / "model.weights.h5")
    loop.model.save_weights(path)
    before = [weight.numpy() for weight in loop.model.weights]
    outputs = np.asarray(loop.model(X, training=False))
    later = loop.train(epochs=1)
    assert any(np.any(w.numpy() != old) for w, old in zip(loop.model.weights, before, strict=True))
    loop.model.load_weights(path)
    np.testing.assert_array_equal(loop.model(X, training=True), outputs)
    np.testing.assert_allclose(loop.train(epochs=1), later, rtol=1e-6)
    assert loop.step.experimental_get_tracing_count() == 1


def test_a_model_may_be_fitted_and_evaluated_between_steps():
    loop = Loop(mirrored(2), MODELS["regularized"], lambda: keras.optimizers.Adam(0.01))
    loop.model.compile(loop.optimizer, keras.losses.SparseCategoricalCrossentropy(True))
    first = loop.train(epochs=1)
    loop.model.fit(X, Y, verbose=0)
    between = loop.model.evaluate(X, Y, verbose=0)
    assert loop.model.predict(X, verbose=0).shape == (22, 3)
    assert loop.train(epochs=2)[-1] < between < first[0]
    assert loop.optimizer.iterations.numpy() == 3 + 1 + 6


def test_dropout_differs_by_replica_and_is_off_outside():
    layer = keras.layers.Dropout(0.5, seed=1)
    strategy = mirrored(2)
    ones = tf.ones((64,))
    first, second = strategy.run(lambda: layer(ones, training=True)).values
    assert np.any(np.asarray(first) != np.asarray(second))
    np.testing.assert_array_equal(layer(ones, training=False), ones)
    assert np.any(np.asarray(layer(ones, training=True)) != np.asarray(ones))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy):
    keras.mixed_precision.set_global_policy(policy)
    try:
        assert keras.mixed_precision.global_policy().compute_dtype == policy.removeprefix("mixed_")
        losses = []
        for replicas in (1, 2):
            loop = Loop(
                mirrored(replicas),
                MODELS["regularized"],
                lambda: keras.mixed_precision.LossScaleOptimizer(
                    keras.optimizers.SGD(0.1), initial_scale=1.0
                ),
            )
            losses.append(loop.train(epochs=1))
            assert str(loop.model.trainable_variables[0].dtype) == "float32"
        np.testing.assert_allclose(losses[1], losses[0], rtol=2e-2)
    finally:
        keras.mixed_precision.set_global_policy("float32")


def test_weight_decay_over_the_variables():
    weights = [keras.Variable(np.float32([1.0, 2.0])), keras.Variable(np.float32(3.0))]
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.nn.l2_loss(weight) for weight in weights])
    assert float(loss) == 7.0
    gradients = tape.gradient(loss, weights)
    np.testing.assert_allclose(gradients[0], [1.0, 2.0])
    np.testing.assert_allclose(gradients[1], 3.0)


# Recorded from TensorFlow 2.21: train.metrics of the golden results.
VALUES = np.arange(10, dtype=np.float32) * 0.5 + 1
WEIGHTS = np.float32([1, 2, 0, 1, 0.5, 1, 1, 3, 1, 0.25])


@pytest.mark.parametrize(
    "replicas",
    [pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow), 4],
)
@pytest.mark.parametrize(
    ("weighted", "expected"), [(False, [1.75, 2.75, 3.25]), (True, [1.625, 3.0526316, 3.2906976])]
)
def test_a_metric_is_that_of_all_replicas_everywhere(replicas, weighted, expected):
    strategy = mirrored(replicas)
    metric = keras.metrics.Mean()

    def replica(batch):
        values, weights = batch
        metric.update_state(values, sample_weight=weights if weighted else None)
        return metric.result()

    dataset = tf.data.Dataset.from_tensor_slices((VALUES, WEIGHTS)).batch(4)
    for batch, result in zip(
        strategy.experimental_distribute_dataset(dataset), expected, strict=True
    ):
        for seen in strategy.run(replica, args=(batch,)).values:
            assert float(seen) == pytest.approx(result), "a replica sees what all have seen"
        assert float(metric.result()) == pytest.approx(result)
    with strategy.scope():
        assert float(metric.result()) == pytest.approx(expected[-1])
    strategy.run(metric.reset_states)
    assert json.dumps(float(metric.result())) == "0.0"
