"""Metrics of Keras in replicas: padding is left out, and a result is that of all replicas."""

import contextlib

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import spmd
from spmd.integrations.keras import distribute_model
from tests.spmd.integrations.keras.loops import ROWS, make_model, trained


def test_regularization_and_metrics(mesh_of):
    results = []
    for replicas in (1, 4):
        metric = keras.metrics.SparseCategoricalAccuracy()
        keras.utils.set_random_seed(0)  # for the layer that is made before the model
        model = make_model(keras.layers.Dense(4, kernel_regularizer="l2"))
        trained(mesh_of(replicas), model, keras.optimizers.SGD(0.1), metric=metric)
        results.append(float(metric.result()))
        assert float(metric.count.value) == 2 * ROWS, "no row is counted twice, no padding"
        metric.reset_state()
        assert float(metric.count.value) == 0
    assert results[0] == pytest.approx(results[1])


def test_sample_weights_and_padding(mesh_of):
    metric = keras.metrics.MeanSquaredError()
    loss = keras.losses.MeanSquaredError(reduction="sum")
    y, p, w = np.float32([[1], [2], [4]]), np.zeros((3, 1), np.float32), np.float32([1, 2, 3])

    def step(batch):
        y, p, w = batch
        metric.update_state(y, p, sample_weight=w)
        return spmd.all_reduce(loss(y, p, sample_weight=w))

    (batch,) = spmd.distribute((y, p, w), mesh_of(2), batch_size=4)
    total = float(spmd.Step(step, mesh_of(2))(batch))
    assert total == pytest.approx(1 * 1 + 2 * 4 + 3 * 16)
    assert float(metric.result()) == pytest.approx(total / 6)


def test_a_metric_read_in_a_replica_is_that_of_all(mesh_of):
    metric = keras.metrics.Mean()

    def step(batch):
        metric.update_state(batch)

    train = spmd.Step(step, mesh_of(4))
    for batch in spmd.distribute(np.arange(6.0, dtype=np.float32), mesh_of(4), batch_size=8):
        train(batch)
    assert float(metric.result()) == 2.5


class Total(keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="total")
        self.total = self.add_variable((), "zeros", name="total")

    def update_state(self, values, *args, sample_weight=None):
        self.total.assign(self.total + keras.ops.sum(values))

    def result(self):
        return self.total.value


class Twice(keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.inner = Total()

    def update_state(self, values):
        self.inner.update_state(values)

    def result(self):
        return self.inner.result() + self.inner.total


def test_a_metric_in_a_metric_is_summed_once(mesh_of):
    metric = Twice()

    def step(batch):
        metric.update_state(batch)
        return metric.result()

    (batch,) = spmd.distribute(np.ones(4, np.float32), mesh_of(2), batch_size=4)
    assert float(spmd.Step(step, mesh_of(2))(batch)) == float(metric.result()) == 8


class Best(Total):
    """Its result is the largest one so far, which `result` itself writes."""

    def __init__(self):
        super().__init__()
        self.best = self.add_variable((), "zeros", aggregation="none", name="best")

    def result(self):
        self.best.assign(keras.ops.maximum(self.best, self.total))
        return self.best.value


@pytest.mark.parametrize("stateless", [False, True])
def test_a_result_may_write_variables(mesh_of, stateless):
    metric = Best()

    def step(batch):
        metric.update_state(batch)
        with keras.StatelessScope() if stateless else contextlib.nullcontext() as scope:
            metric.update_state(batch)
            best = metric.result()
        return best if scope is None else (best, scope.get_current_value(metric.best))

    (batch,) = spmd.distribute(np.ones(4, np.float32), mesh_of(2), batch_size=4)
    best = spmd.Step(step, mesh_of(2))(batch)
    if stateless:
        assert list(map(float, best)) == [8, 8]
    else:
        assert float(best) == float(metric.best.value) == float(metric.total.value) == 8


class StepsWithState(keras.Sequential):
    """Steps as Keras's own guide for JAX has them."""

    def train_step(self, state, data):
        return super().train_step(state, data)

    def predict_step(self, state, data):
        return super().predict_step(state, data)


class StepsWithBatch(keras.Sequential):
    """Steps as TensorFlow has them."""

    def train_step(self, data):
        return super().train_step(data)


@pytest.mark.parametrize("kind", [StepsWithState, StepsWithBatch])
def test_logs_of_a_users_step_cover_all_replicas(mesh_of, kind):
    model = distribute_model(kind([keras.Input((1,)), keras.layers.Dense(1)]), mesh_of(2))
    model.compile("sgd", "mse", metrics=[Total()])
    totals = []
    callback = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda _, logs: totals.append(float(logs["total"]))
    )
    x = np.ones((8, 1), np.float32)
    model.fit(x, x, batch_size=4, verbose=0, callbacks=[callback])
    assert totals == [4, 8]
    np.testing.assert_allclose(model.predict(x, verbose=0), model(x), rtol=1e-6)


def test_a_metric_may_be_read_in_a_replica(mesh_of):
    metric = keras.metrics.Mean()

    def step(batch):
        metric.update_state(batch)
        return metric.result()

    train = spmd.Step(step, mesh_of(4))
    (batch,) = spmd.distribute(np.arange(6.0, dtype=np.float32), mesh_of(4), batch_size=8)
    assert float(train(batch)) == 2.5, "equal on all replicas, so it is one value"
    assert float(metric.result()) == 2.5
    assert float(metric.count.value) == 6


@pytest.mark.parametrize("of_batch", [True, False])
def test_the_users_function_runs_once(mesh_of, of_batch):
    calls = spmd.Variable(np.float32(0))

    def function(y, p):
        calls.value = calls.value + 1
        error = (y - p)[:, 0] ** 2
        return error.mean() if of_batch else error

    metric = keras.metrics.MeanMetricWrapper(function)
    y, p = np.float32([[1], [2], [4], [5]]), np.zeros((4, 1), np.float32)
    (batch,) = spmd.distribute((y, p), mesh_of(2), batch_size=4)
    spmd.Step(lambda batch: metric.update_state(*batch), mesh_of(2))(batch)
    assert float(calls.value) == 1
    assert float(metric.result()) == pytest.approx((1 + 4 + 16 + 25) / 4)


class ArgmaxIoU(keras.metrics.MeanIoU):
    """As TensorFlow's tutorials of segmentation write it."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, jnp.argmax(y_pred, -1), sample_weight)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype int64")
@pytest.mark.parametrize(
    "sides", [(6, 5), (4, 4), (7, 2)]
)  # as many as rows of a block or a batch, too
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (keras.metrics.Precision, "one"),
        (keras.metrics.AUC, "one"),
        (keras.metrics.TruePositives, "one"),
        (lambda: keras.metrics.BinaryIoU([1]), "one"),
        (lambda: keras.metrics.OneHotMeanIoU(3), "classes"),
        (lambda: keras.metrics.MeanIoU(3, sparse_y_pred=False), "numbers"),
        (lambda: ArgmaxIoU(3), "numbers"),
        (keras.metrics.BinaryAccuracy, "one"),
    ],
)
def test_metrics_of_pictures(mesh_of, make, kind, sides):
    random = np.random.default_rng(0)
    predicted = random.random((7, *sides, 1 if kind == "one" else 3)).astype(np.float32)
    numbers = random.integers(0, 3, (7, *sides))
    targets = {
        "one": (numbers[..., None] > 1).astype(np.float32),
        "classes": np.eye(3, dtype=np.float32)[numbers],
        "numbers": numbers[..., None].astype(np.int32),
    }[kind]
    metric, expected = make(), make()
    expected.update_state(targets, predicted)

    def step(batch):
        metric.update_state(*batch)

    update = spmd.Step(step, mesh_of(2))
    for batch in spmd.distribute((targets, predicted), mesh_of(2), batch_size=4):
        update(batch)
    np.testing.assert_allclose(metric.result(), expected.result(), rtol=1e-6)


def test_weights_of_what_is_in_rows(mesh_of):
    random = np.random.default_rng(0)
    targets, predicted = (random.random((3, 5, 2)).astype(np.float32) for _ in range(2))
    weights = random.random((3, 5)).astype(np.float32)
    metric, expected = keras.metrics.MeanSquaredError(), keras.metrics.MeanSquaredError()
    expected.update_state(targets, predicted, weights)

    def step(batch):
        metric.update_state(*batch)

    (batch,) = spmd.distribute((targets, predicted, weights), mesh_of(2), batch_size=4)
    spmd.Step(step, mesh_of(2))(batch)
    np.testing.assert_allclose(metric.result(), expected.result(), rtol=1e-6)
