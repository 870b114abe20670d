"""`fit`, `evaluate` and `predict` on replicas give what Keras alone gives, with any number of them."""

import functools

import jax
import keras
import numpy as np
import pytest
from keras import layers
from keras.src.backend.jax.trainer import JAXEpochIterator

import spmd
from spmd.errors import BatchError
from spmd.integrations.keras import distribute_model
from spmd.integrations.keras.patches import patch_keras
from spmd.integrations.keras.trainer import build_if_possible, make_function

RNG = np.random.default_rng(0)
X = RNG.normal(size=(37, 3)).astype(np.float32)
Y = (X @ [[1.0], [2.0], [3.0]] + 0.5).astype(np.float32)
CLASSES = RNG.integers(0, 4, 37).astype(np.int32)
WEIGHTS = np.linspace(0, 2, 37).astype(np.float32)
TOKENS = np.where(RNG.random((37, 5)) < 0.4, 0, RNG.integers(1, 9, (37, 5))).astype(np.int32)


def regression(**compiled):
    model = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
    model.compile(**{"optimizer": "adam", "loss": "mse", "metrics": ["mae"], **compiled})
    return model


def penalized():
    model = keras.Sequential(
        [
            layers.Dense(4, kernel_regularizer="l2", activity_regularizer="l1"),
            layers.Dense(1, bias_regularizer="l1"),
        ]
    )
    model.compile("sgd", "mae", weighted_metrics=["mse"])
    return model


def classifier():
    model = keras.Sequential([layers.Dense(4, activation="softmax")])
    model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def masked():
    model = keras.Sequential(
        [layers.Embedding(9, 3, mask_zero=True), layers.Dense(4, activation="softmax")]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def two_outputs():
    inputs = keras.Input((3,))
    outputs = {"a": layers.Dense(1, name="a")(inputs), "b": layers.Dense(4, name="b")(inputs)}
    model = keras.Model(inputs, outputs)
    losses = {
        "a": "mse",
        "b": keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum"),
    }
    model.compile("adam", losses, loss_weights={"a": 0.5, "b": 2.0}, metrics={"b": "accuracy"})
    return model


def weighted_mean():
    return regression(loss=keras.losses.MeanSquaredError(reduction="mean_with_sample_weight"))


def own_function():
    # Half of what people write averages over the batch by itself.
    return regression(loss=lambda y, prediction: keras.ops.mean(keras.ops.abs(y - prediction)))


class OwnLoss(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1, kernel_regularizer="l2")

    def call(self, x):
        return self.dense(x)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        return loss * 2 + 0.1 * keras.ops.sum(self.dense.kernel**2)


def own_loss():
    model = OwnLoss()
    model.compile("sgd", "mse")
    return model


class WithState(keras.Model):
    """A training step as Keras's own guide for JAX has it."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, state, data):
        return super().train_step(state, data)


def with_state():
    model = WithState()
    model.compile("adam", "mse", metrics=["mae"])
    return model


DATA = {
    regression: (X, Y),
    penalized: (X, Y, WEIGHTS),
    classifier: (X, CLASSES),
    masked: (TOKENS, TOKENS % 4),
    two_outputs: (X, {"a": Y, "b": CLASSES}),
    weighted_mean: (X, Y, WEIGHTS),
    own_function: (X, Y),
    own_loss: (X, Y),
    with_state: (X, Y),
}


def trained(make, replicas, data=None, **fit):
    """Histories, evaluation, predictions and weights of a model; on Keras's own loop without replicas."""
    keras.utils.set_random_seed(0)
    model = make()
    if replicas:
        distribute_model(model, spmd.make_mesh([f"cpu:{index}" for index in range(replicas)]))
    x, y, *weight = DATA[data or make]
    options = {"batch_size": 8, "epochs": 2, "verbose": 0, "shuffle": False, **fit}
    weights = weight[0] if weight else None
    history = model.fit(x, y, sample_weight=weights, **options).history
    evaluated = model.evaluate(x, y, sample_weight=weights, batch_size=16, verbose=0)
    # What predictions are made of, structures and masks, these models show.
    predicts = make in (regression, masked, two_outputs)
    predicted = model.predict(x, batch_size=16, verbose=0) if predicts else []
    return history, evaluated, predicted, [np.asarray(v.value) for v in model.weights]


@functools.cache
def expected(make):
    """What Keras alone gives."""
    return trained(make, 0)


def assert_close(ours, theirs):
    assert keras.tree.map_structure(lambda _: 0, ours) == keras.tree.map_structure(
        lambda _: 0, theirs
    )
    for one, other in zip(keras.tree.flatten(ours), keras.tree.flatten(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


# That it does not depend on the number, and that padding is masked, two models show every day.
QUICK = [(regression, 1), (regression, 4), (masked, 2)]
COUNTS = [
    pytest.param(make, replicas, marks=() if (make, replicas) in QUICK else pytest.mark.slow)
    for make in DATA
    for replicas in (1, 2, 4)
]


def test_one_processor_takes_batches_from_the_host(monkeypatch):
    placed = []
    monkeypatch.setattr(
        "spmd.replica.values.place",
        lambda value, sharding: placed.append(value) or jax.device_put(value, sharding),
    )
    model = regression()
    distribute_model(model, spmd.make_mesh(["cpu:0"]))
    model.fit(X[:32], Y[:32], batch_size=8, epochs=2, verbose=0)
    assert len(placed) == 2  # of the first batch, for which the step has no program yet


def test_keras_puts_no_batch_on_a_device_of_its_own_choice(monkeypatch):
    patch_keras()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    batches = JAXEpochIterator(X, Y, batch_size=8)
    _, _, iterator = next(iter(batches))
    assert [type(part) for part in next(iterator)] == [np.ndarray, np.ndarray]


@pytest.mark.parametrize(
    ("make", "replicas"), COUNTS, ids=lambda value: getattr(value, "__name__", None)
)
def test_any_number_of_replicas_trains_as_keras_does(make, replicas):
    # 37 rows in batches of 8: the last batch has 5, so that the fourth replica gets none.
    assert_close(trained(make, replicas), expected(make))


@pytest.mark.parametrize("replicas", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("steps", [pytest.param(2, marks=pytest.mark.slow), 3, 7])
def test_several_steps_in_one_execution(replicas, steps):
    several = functools.partial(regression, steps_per_execution=steps)
    ours, theirs = trained(several, replicas, data=regression), expected(regression)
    assert_close((*ours[:2], ours[3]), (*theirs[:2], theirs[3]))


def test_what_keras_makes_is_returned_for_a_model_without_a_placement():
    class Unplaced:
        pass

    model = Unplaced()
    assert make_function("predict", lambda *given: given, model, True) == (model, True)


@pytest.mark.parametrize("replicas", [0, 2])
def test_data_without_batches_is_an_error_that_says_so(replicas):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    if replicas:
        distribute_model(model, spmd.make_mesh(["cpu:0", "cpu:1"]))

    def build(model):
        next(iter(()))

    with pytest.raises(BatchError, match="the dataset is empty"):
        build_if_possible(build, model)
