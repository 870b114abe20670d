"""One, two, four and eight replicas train alike, and like a loop on one device that knows no replicas.

Every model here trains on batches of 8 rows whose last one has each number of rows from 1 to 8, so
some replicas get padding only. Losses, weights and metrics are compared with plain JAX and NumPy.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]

BATCH = 8
FEATURES = 5
CLASSES = 3
REPLICAS = [1, 2, 4, 8]
# One epoch for every remainder: 9 rows (8 + 1) to 16 rows (8 + 8).
EPOCHS = range(BATCH + 1, 2 * BATCH + 1)

OPTIMIZERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "sgd": lambda: optax.sgd(0.1),
    "momentum": lambda: optax.sgd(0.05, momentum=0.9, nesterov=True),
    "adam": lambda: optax.adam(1e-2),
}
# Every day the optimizer with most state; the number of replicas changes in tests below.
PAIRS = [
    pytest.param(
        *(optimizer, replicas),
        marks=() if (optimizer, replicas) == ("adam", 4) else pytest.mark.slow,
    )
    for optimizer in OPTIMIZERS
    for replicas in REPLICAS
]


def rows_of_epoch(rows: int) -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(rows)
    return {
        "x": random.normal(size=(rows, FEATURES)).astype(np.float32),
        "y": random.integers(0, CLASSES, rows).astype(np.int32),
    }


def plain_batches() -> Iterator[dict[str, np.ndarray[Any, Any]]]:
    """The batches as they are, without padding."""
    for rows in EPOCHS:
        data = rows_of_epoch(rows)
        for start in range(0, rows, BATCH):
            yield {key: value[start : start + BATCH] for key, value in data.items()}


def weighted(batch: dict[str, np.ndarray[Any, Any]]) -> tuple[Any, Any, Any]:
    """A batch with zeros up to 8 rows, and weights that leave them out: one shape, one compilation."""
    rows = len(batch["y"])
    x, y = np.zeros((BATCH, FEATURES), np.float32), np.zeros(BATCH, np.int32)
    x[:rows], y[:rows] = batch["x"], batch["y"]
    return x, y, (np.arange(BATCH) < rows) / np.float32(rows)


def distributed_batches(mesh: Mesh) -> Iterator[Any]:
    for rows in EPOCHS:
        yield from spmd.distribute(rows_of_epoch(rows), mesh, batch_size=BATCH, prefetch=0)


def initial_weights() -> dict[str, jax.Array]:
    random = np.random.default_rng(0)
    return {
        "w1": jnp.asarray(random.normal(size=(FEATURES, 6)) * 0.5, jnp.float32),
        "b1": jnp.asarray(random.normal(size=6) * 0.1, jnp.float32),
        "w2": jnp.asarray(random.normal(size=(6, CLASSES)) * 0.5, jnp.float32),
        "b2": jnp.asarray(random.normal(size=CLASSES) * 0.1, jnp.float32),
    }


def predict(weights: Any, x: Any) -> Any:
    return jnp.tanh(x @ weights["w1"] + weights["b1"]) @ weights["w2"] + weights["b2"]


def cross_entropy(logits: Any, labels: Any) -> Any:
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


@functools.cache
def plain_training(optimizer: str) -> tuple[list[float], dict[str, np.ndarray[Any, Any]], float]:
    """Trains on one device by hand: losses, weights, and the share of rows that were classified right."""
    tx = OPTIMIZERS[optimizer]()
    weights = initial_weights()
    state = tx.init(weights)
    losses, right, rows = [], 0, 0

    @jax.jit
    def train(weights: Any, state: Any, x: Any, y: Any, share: Any) -> Any:
        def mean_loss(weights: Any) -> Any:
            logits = predict(weights, x)
            return (cross_entropy(logits, y) * share).sum(), logits

        (loss, logits), gradients = jax.value_and_grad(mean_loss, has_aux=True)(weights)
        updates, state = tx.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, loss, logits

    for batch in plain_batches():
        weights, state, loss, logits = train(weights, state, *weighted(batch))
        losses.append(float(loss))
        size = len(batch["y"])
        right += int((np.asarray(logits)[:size].argmax(-1) == batch["y"]).sum())
        rows += size
    return losses, jax.tree.map(np.asarray, weights), right / rows


class Classifier(nnx.Module):
    """The network of `predict`."""

    def __init__(self) -> None:
        for name, value in initial_weights().items():
            setattr(self, name, nnx.Param(value))

    def __call__(self, x: Any) -> Any:
        return predict({name: getattr(self, name)[...] for name in ("w1", "b1", "w2", "b2")}, x)


@pytest.mark.parametrize(("optimizer", "replicas"), PAIRS)
def test_nnx_training_is_the_plain_loop(mesh_of: MeshOf, optimizer: str, replicas: int) -> None:
    mesh = mesh_of(replicas)
    model = Classifier()
    trainer = nnx.Optimizer(model, OPTIMIZERS[optimizer](), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))

    def train(batch: Any) -> Any:
        def share_of_loss(model: Any) -> Any:
            logits = model(batch["x"])
            each = cross_entropy(logits, batch["y"])
            return spmd.average_loss(each), (logits, each)

        (loss, (logits, each)), gradients = nnx.value_and_grad(share_of_loss, has_aux=True)(model)
        trainer.update(model, gradients)
        metrics.update(logits=logits, labels=batch["y"], loss=each, mask=spmd.valid_rows())
        return spmd.all_reduce(loss)

    step = spmd.Step(train, mesh)
    losses = [float(step(batch)) for batch in distributed_batches(mesh)]
    expected_losses, weights, accuracy = plain_training(optimizer)
    np.testing.assert_allclose(losses, expected_losses, rtol=2e-5)
    for name, value in weights.items():
        np.testing.assert_allclose(getattr(model, name)[...], value, rtol=2e-4, atol=2e-6)
    # The mean over all rows, each counted once, is not the mean over batches.
    sizes = [len(batch["y"]) for batch in plain_batches()]
    computed = metrics.compute()
    np.testing.assert_allclose(computed["accuracy"], accuracy, rtol=1e-6)
    np.testing.assert_allclose(
        computed["loss"], np.average(expected_losses, weights=sizes), rtol=2e-5
    )
    assert int(metrics.loss.count[...]) == sum(EPOCHS)
    assert step.trace_count == 1


@pytest.mark.parametrize(("optimizer", "replicas"), PAIRS)
def test_raw_optax_training_is_the_plain_loop(
    mesh_of: MeshOf, optimizer: str, replicas: int
) -> None:
    mesh = mesh_of(replicas)
    tx = optax.chain(spmd.sum_over_replicas(), OPTIMIZERS[optimizer]())
    weights = spmd.Variable(initial_weights(), name="weights")
    state = spmd.Variable(tx.init(weights.value), name="state")

    def train(batch: Any) -> Any:
        def share_of_loss(weights: Any) -> Any:
            return spmd.average_loss(cross_entropy(predict(weights, batch["x"]), batch["y"]))

        loss, gradients = jax.value_and_grad(share_of_loss)(weights.value)
        updates, state.value = tx.update(gradients, state.value, weights.value)
        weights.value = optax.apply_updates(weights.value, updates)
        return spmd.all_reduce(loss)

    step = spmd.Step(train, mesh)
    losses = [float(step(batch)) for batch in distributed_batches(mesh)]
    expected_losses, expected, _ = plain_training(optimizer)
    np.testing.assert_allclose(losses, expected_losses, rtol=2e-5)
    for name, value in expected.items():
        np.testing.assert_allclose(weights.value[name], value, rtol=2e-4, atol=2e-6)
    assert step.trace_count == 1


class Counter(nnx.Module):
    """A recurrent network: how much of a sequence was positive."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.rnn = nnx.RNN(nnx.GRUCell(1, 4, rngs=rngs))
        self.head = nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.head(self.rnn(x[..., None])[:, -1])[:, 0]


@functools.cache
def plain_rnn_training() -> tuple[list[float], list[np.ndarray[Any, Any]]]:
    model = Counter()
    trainer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def train(model: Any, trainer: Any, x: Any, share: Any) -> Any:
        def mean_loss(model: Any) -> Any:
            return ((model(x) - (x > 0).mean(1)) ** 2 * share).sum()

        loss, gradients = nnx.value_and_grad(mean_loss)(model)
        trainer.update(model, gradients)
        return loss

    losses = []
    for batch in plain_batches():
        x, _, share = weighted(batch)
        losses.append(float(train(model, trainer, x, share)))
    return losses, [np.asarray(leaf) for leaf in jax.tree.leaves(nnx.state(model, nnx.Param))]


@pytest.mark.parametrize(
    "replicas", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in REPLICAS if n != 2)]
)
def test_recurrent_training_is_the_plain_loop(mesh_of: MeshOf, replicas: int) -> None:
    mesh = mesh_of(replicas)
    model = Counter()
    trainer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    def train(batch: Any) -> Any:
        def share_of_loss(model: Any) -> Any:
            x = batch["x"]
            return spmd.average_loss((model(x) - (x > 0).mean(1)) ** 2)

        loss, gradients = nnx.value_and_grad(share_of_loss)(model)
        trainer.update(model, gradients)
        return spmd.all_reduce(loss)

    step = spmd.Step(train, mesh)
    losses = [float(step(batch)) for batch in distributed_batches(mesh)]
    expected_losses, expected = plain_rnn_training()
    np.testing.assert_allclose(losses, expected_losses, rtol=2e-5)
    weights = jax.tree.leaves(nnx.state(model, nnx.Param))
    for value, other in zip(weights, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=2e-4, atol=2e-6)


def sum_in_multi_steps() -> Any:
    chain = optax.chain(spmd.sum_over_replicas(), optax.sgd(0.1))
    return optax.MultiSteps(chain, 1).gradient_transformation()


def sum_in_injected_hyperparameters() -> Any:
    def make(learning_rate: Any) -> Any:
        return optax.chain(spmd.sum_over_replicas(), optax.sgd(learning_rate))

    return optax.inject_hyperparams(make)(0.1)


SUMMED: dict[str, Callable[[], Any]] = {
    "no sum of one's own": lambda: optax.sgd(0.1),
    "chain": lambda: optax.chain(spmd.sum_over_replicas(), optax.sgd(0.1)),
    "nested chain": lambda: optax.chain(
        optax.chain(optax.identity(), spmd.sum_over_replicas()), optax.sgd(0.1)
    ),
    "masked": lambda: optax.chain(
        optax.masked(spmd.sum_over_replicas(), lambda tree: jax.tree.map(lambda _: True, tree)),
        optax.sgd(0.1),
    ),
    "in front of apply_if_finite": lambda: optax.chain(
        spmd.sum_over_replicas(), optax.apply_if_finite(optax.sgd(0.1), 3)
    ),
    "apply_if_finite, no sum of one's own": lambda: optax.apply_if_finite(optax.sgd(0.1), 3),
    "MultiSteps, no sum of one's own": lambda: optax.MultiSteps(
        optax.sgd(0.1), 1
    ).gradient_transformation(),
    "inject_hyperparams": sum_in_injected_hyperparameters,
}


@pytest.mark.parametrize("kind", SUMMED)
def test_gradients_are_summed_once_wherever_the_sum_stands(mesh_of: MeshOf, kind: str) -> None:
    weights = []
    for replicas in (1, 4):
        mesh = mesh_of(replicas)
        model = Classifier()
        trainer = nnx.Optimizer(model, SUMMED[kind](), wrt=nnx.Param)

        def train(batch: Any, model: Any = model, trainer: Any = trainer) -> None:
            def share_of_loss(model: Any) -> Any:
                return spmd.average_loss(cross_entropy(model(batch["x"]), batch["y"]))

            trainer.update(model, nnx.grad(share_of_loss)(model))

        step = spmd.Step(train, mesh)
        for batch in spmd.distribute(rows_of_epoch(12), mesh, batch_size=BATCH, prefetch=0):
            step(batch)
        weights.append(np.asarray(model.w2[...]))
    assert np.abs(weights[0] - np.asarray(initial_weights()["w2"])).max() > 1e-3
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-5, atol=1e-7)


def test_a_sum_behind_an_accumulator_is_refused(mesh_of: MeshOf) -> None:
    # MultiSteps would gather gradients that are the replica's own, and keep them between steps.
    model = Classifier()
    trainer = nnx.Optimizer(model, sum_in_multi_steps(), wrt=nnx.Param)

    def train(batch: Any) -> None:
        def share_of_loss(model: Any) -> Any:
            return spmd.average_loss(cross_entropy(model(batch["x"]), batch["y"]))

        trainer.update(model, nnx.grad(share_of_loss)(model))

    mesh = mesh_of(4)
    batch = next(iter(spmd.distribute(rows_of_epoch(12), mesh, batch_size=BATCH, prefetch=0)))
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="acc_grads"):
        spmd.Step(train, mesh)(batch)


@pytest.mark.parametrize("replicas", REPLICAS)
def test_metrics_count_every_valid_row_once(mesh_of: MeshOf, replicas: int) -> None:
    mesh = mesh_of(replicas)
    average = nnx.metrics.Average()
    both = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), value=nnx.metrics.Average("value"))

    def evaluate(batch: Any) -> None:
        mask = spmd.valid_rows()
        average.update(values=batch["x"][:, 0], mask=mask)
        both.update(
            logits=batch["x"][:, :CLASSES], labels=batch["y"], value=batch["x"][:, 1], mask=mask
        )

    step = spmd.Step(evaluate, mesh)
    for rows in EPOCHS:
        data = rows_of_epoch(rows)
        average.reset()
        both.reset()
        for batch in spmd.distribute(data, mesh, batch_size=BATCH, prefetch=0):
            step(batch)
        np.testing.assert_allclose(average.compute(), data["x"][:, 0].mean(), rtol=1e-5, atol=1e-6)
        assert int(average.count[...]) == rows
        right = data["x"][:, :CLASSES].argmax(1) == data["y"]
        np.testing.assert_allclose(both.compute()["accuracy"], right.mean(), rtol=1e-6)
        np.testing.assert_allclose(
            both.compute()["value"], data["x"][:, 1].mean(), rtol=1e-5, atol=1e-6
        )
    assert step.trace_count == 1


def test_weights_and_metrics_are_whole_on_every_device(mesh_of: MeshOf) -> None:
    mesh = mesh_of(4)
    model = Classifier()
    trainer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    metric = nnx.metrics.Average("loss")

    def train(batch: Any) -> None:
        def share_of_loss(model: Any) -> Any:
            each = cross_entropy(model(batch["x"]), batch["y"])
            return spmd.average_loss(each), each

        gradients, each = nnx.grad(share_of_loss, has_aux=True)(model)
        trainer.update(model, gradients)
        metric.update(loss=each, mask=spmd.valid_rows())

    step = spmd.Step(train, mesh)
    for batch in distributed_batches(mesh):
        step(batch)
    variables = [model.w1, model.b1, model.w2, model.b2, metric.total, metric.count, trainer.step]
    for variable in variables:
        copies = [np.asarray(shard.data) for shard in variable[...].addressable_shards]
        assert len(copies) == 4
        for copy in copies[1:]:
            np.testing.assert_array_equal(copy, copies[0])
