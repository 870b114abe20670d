"""Training: a linear regression in a custom loop, batch normalization, and metrics in replicas."""

import functools
import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, f32, scenario

GROUP = "training"
START = [[0.1], [-0.2], [0.3]]
STEPS, EVERY = 20, 5
Update = Callable[[Any, list[Any], list[Any]], Any]


def examples(count: int) -> tuple[Any, Any]:
    i = np.arange(count * 3).reshape(count, 3)
    x = np.sin(i * 0.7 + 0.3)
    y = x @ np.array([[1.5], [-2.0], [0.5]]) + 0.25 + 0.1 * np.cos(np.arange(count))[:, None]
    return f32(x), f32(y)


def _apply(optimizer: Any, gradients: list[Any], variables: list[Any]) -> None:
    optimizer.apply_gradients(zip(gradients, variables, strict=True))


class _Loop:
    """Trains models, one for each optimizer, in one program; the results by name."""

    def __init__(
        self,
        s: Setting,
        optimizers: dict[str, Callable[[], Any]],
        loss: str = "global",
        batch: int = 8,
        count: int = 16,
        update: Update = _apply,
    ) -> None:
        self.s, self.loss, self.batch, self.count, self.update = s, loss, batch, count, update
        self.found: dict[str, Any] = {}
        with s.strategy.scope():
            self.optimizers = {name: make() for name, make in optimizers.items()}
            self.weights = {
                name: [s.tf.Variable(START), s.tf.Variable([0.0])] for name in optimizers
            }

    def _replica(self, x: Any, y: Any) -> dict[str, Any]:
        tf = self.s.tf
        losses = {}
        for name, (w, b) in self.weights.items():
            with tf.GradientTape() as tape:
                each = 0.5 * tf.reduce_sum(tf.square(tf.matmul(x, w) + b - y), axis=1)
                if self.loss == "global":
                    loss = tf.nn.compute_average_loss(each, global_batch_size=self.batch)
                elif self.loss == "local_mean":
                    loss = tf.reduce_mean(each)
                else:
                    loss = tf.reduce_sum(each) * 0.01
            gradients = tape.gradient(loss, [w, b])
            self.update(self.optimizers[name], gradients, [w, b])
            losses[name] = loss
        return losses

    def results(self) -> dict[str, Any]:
        """Trains, once; gives the weights after every five steps, and all losses."""
        if self.found:
            return self.found
        tf, strategy = self.s.tf, self.s.strategy

        @tf.function
        def step(x: Any, y: Any) -> Any:
            losses = strategy.run(self._replica, args=(x, y))
            return {name: strategy.reduce("SUM", one, axis=None) for name, one in losses.items()}

        rows = tf.data.Dataset.from_tensor_slices(examples(self.count))
        batches = iter(strategy.experimental_distribute_dataset(rows.batch(self.batch).repeat()))
        found: dict[str, Any] = {name: {"weights": [], "losses": []} for name in self.weights}
        for index in range(STEPS):
            losses = step(*next(batches))
            for name, variables in self.weights.items():
                found[name]["losses"].append(float(losses[name]))
                if (index + 1) % EVERY == 0:
                    found[name]["weights"].append([v.numpy() for v in variables])
        for name, optimizer in self.optimizers.items():
            found[name]["iterations"] = int(optimizer.iterations.numpy())
        self.found = found
        return found

    def cases(self, prefix: str = "") -> Iterator[Case]:
        """One for each optimizer."""
        for name in self.weights:
            yield prefix + name, lambda name=name: self.results()[name]


@scenario("train.optimizers", GROUP)
def optimizers(s: Setting) -> Iterator[Case]:
    o = s.tf.keras.optimizers
    decay = o.schedules
    adam = {"beta_1": 0.9, "beta_2": 0.99}
    yield from _Loop(
        s,
        {
            "sgd": lambda: o.SGD(0.1),
            "momentum": lambda: o.SGD(0.1, momentum=0.9),
            "nesterov": lambda: o.SGD(0.1, momentum=0.9, nesterov=True),
            "adam": lambda: o.Adam(0.05, epsilon=1e-7, **adam),
            "adam_amsgrad": lambda: o.Adam(0.05, epsilon=1e-3, amsgrad=True, **adam),
            "adam_defaults": lambda: o.Adam(),
            "adamw": lambda: o.AdamW(0.05, weight_decay=0.01, epsilon=1e-7, **adam),
            "adamw_defaults": lambda: o.AdamW(0.05),
            "rmsprop": lambda: o.RMSprop(0.01, rho=0.9, momentum=0.5, epsilon=1e-3),
            "rmsprop_centered": lambda: o.RMSprop(0.01, centered=True),
            "adagrad": lambda: o.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=1e-7),
            "adagrad_defaults": lambda: o.Adagrad(),
            "adadelta": lambda: o.Adadelta(1.0),
            "adamax": lambda: o.Adamax(0.05),
            "nadam": lambda: o.Nadam(0.05),
            "ftrl": lambda: o.Ftrl(0.05),
            "legacy_sgd": lambda: o.legacy.SGD(0.1),
            "legacy_momentum": lambda: o.legacy.SGD(0.1, momentum=0.9),
            "legacy_adam": lambda: o.legacy.Adam(0.05, epsilon=1e-7, **adam),
            "legacy_sgd_decay": lambda: o.legacy.SGD(decay.ExponentialDecay(0.2, 3, 0.5)),
            "clipnorm": lambda: o.SGD(0.1, clipnorm=0.5),
            "global_clipnorm": lambda: o.SGD(0.1, global_clipnorm=0.5),
            "clipvalue": lambda: o.SGD(0.1, clipvalue=0.1),
        },
    ).cases()
    exponential = decay.ExponentialDecay
    others = {
        "legacy_clipnorm": lambda: o.legacy.SGD(0.1, clipnorm=0.5),
        "legacy_global_clipnorm": lambda: o.legacy.SGD(0.1, global_clipnorm=0.5),
        "legacy_clipvalue": lambda: o.legacy.SGD(0.1, clipvalue=0.1),
        "exponential": lambda: o.SGD(exponential(0.2, 3, 0.5)),
        "staircase": lambda: o.SGD(exponential(0.2, 3, 0.5, staircase=True)),
        "piecewise": lambda: o.SGD(decay.PiecewiseConstantDecay([4, 9], [0.2, 0.1, 0.01])),
        "cosine": lambda: o.SGD(decay.CosineDecay(0.2, 15, alpha=0.1)),
        "polynomial": lambda: o.SGD(decay.PolynomialDecay(0.2, 15, 0.02, power=2.0)),
        "inverse_time": lambda: o.SGD(decay.InverseTimeDecay(0.2, 3, 0.5)),
    }
    if s.name.startswith("central"):  # TensorFlow fails with them, so each has a program of its own
        for name, make in others.items():
            yield name, lambda name=name, make=make: _Loop(s, {name: make}).results()[name]
    else:
        yield from _Loop(s, others).cases()


@scenario("train.keras3_custom_loop", GROUP, ("n1", "n2", "one_device", "default"))
def keras3_custom_loop(s: Setting) -> Iterator[Case]:
    # Keras 3 itself, which tf.keras is not while results are recorded. On two devices TensorFlow fails
    # with whatever has slots, so each has a program of its own.
    assert s.tf.keras  # ours teaches Keras what a tf.Variable is
    o = importlib.import_module("keras").optimizers
    for name, make in {
        "sgd": lambda: o.SGD(0.1),
        "momentum": lambda: o.SGD(0.1, momentum=0.9),
        "adam": lambda: o.Adam(0.05, beta_1=0.9, beta_2=0.99, epsilon=1e-7),
    }.items():
        yield name, lambda name=name, make=make: _Loop(s, {name: make}).results()[name]
    if s.n == 1:
        more = {
            "adamw_defaults": lambda: o.AdamW(0.05),
            "rmsprop": lambda: o.RMSprop(0.01, rho=0.9, momentum=0.5, epsilon=1e-3),
            "rmsprop_centered": lambda: o.RMSprop(0.01, centered=True),
            "adagrad_defaults": lambda: o.Adagrad(),
            "adadelta": lambda: o.Adadelta(1.0),
            "adamax": lambda: o.Adamax(0.05),
            "nadam": lambda: o.Nadam(0.05),
            "ftrl": lambda: o.Ftrl(0.05),
        }
        yield from _Loop(s, more).cases()


@scenario("train.loss_scaling", GROUP)
def loss_scaling(s: Setting) -> Iterator[Case]:
    sgd = {"sgd": lambda: s.tf.keras.optimizers.SGD(0.1)}
    for name, options in {
        "local_mean": {"loss": "local_mean"},
        "local_sum": {"loss": "sum"},
        "short_last_batch": {"count": 10},
        "short_last_batch/local_mean": {"count": 10, "loss": "local_mean"},
        "batch=6": {"batch": 6},
        "batch=6/local_mean": {"batch": 6, "loss": "local_mean"},
        "batch=5": {"batch": 5, "count": 13},
    }.items():
        yield name, lambda options=options: _Loop(s, sgd, **options).results()["sgd"]


@scenario("train.clip_aggregate", GROUP, fresh=True)
def clip_aggregate(s: Setting) -> Iterator[Case]:
    tf, o = s.tf, s.tf.keras.optimizers

    def before(optimizer: Any, gradients: list[Any], variables: list[Any]) -> None:
        _apply(optimizer, tf.clip_by_global_norm(gradients, 0.3)[0], variables)

    def after(options: dict, optimizer: Any, gradients: list[Any], variables: list[Any]) -> None:
        total = s.context().all_reduce("sum", gradients)
        clipped, _ = tf.clip_by_global_norm(total, 0.3)
        optimizer.apply_gradients(zip(clipped, variables, strict=True), **options)

    def local(options: dict, optimizer: Any, gradients: list[Any], variables: list[Any]) -> None:
        optimizer.apply_gradients(zip(gradients, variables, strict=True), **options)

    skip = {"skip_gradients_aggregation": True}
    legacy = {"experimental_aggregate_gradients": False}
    for name, make, update in (
        ("before", lambda: o.SGD(0.1), before),
        ("after", lambda: o.SGD(0.1), partial(after, skip)),
        ("after_legacy", lambda: o.legacy.SGD(0.1), partial(after, legacy)),
        ("local", lambda: o.SGD(0.1), partial(local, skip)),
        ("local_legacy", lambda: o.legacy.SGD(0.1), partial(local, legacy)),
    ):
        if "legacy" in name and s.name.startswith("central"):
            continue  # not implemented in TensorFlow
        yield (
            name,
            lambda make=make, update=update: _Loop(s, {"sgd": make}, update=update).results()[
                "sgd"
            ],
        )


@scenario("train.batchnorm", GROUP)
def batchnorm(s: Setting) -> Iterator[Case]:
    tf, layers = s.tf, s.tf.keras.layers
    i = np.arange(32).reshape(16, 2)
    x = f32(np.cos(i * 1.3) * (1 + i / 10.0) + 0.5)
    options = {"momentum": 0.9, "epsilon": 1e-3}
    kinds = {
        "plain": lambda: layers.BatchNormalization(**options),
        "synchronized": lambda: layers.BatchNormalization(synchronized=True, **options),
        "experimental_synchronized": lambda: layers.experimental.SyncBatchNormalization(**options),
    }

    @functools.cache
    def train(kind: str, count: int) -> dict:
        with s.strategy.scope():
            layer = kinds[kind]()
            layer.build([None, 2])

        def replica(rows: Any) -> Any:
            with tf.GradientTape() as tape:
                out = layer(rows, training=True)
                # The sum over rows; a plain reduce_sum would be refused for rows that are padded.
                each = tf.reduce_sum(out * out * out, axis=-1)
                loss = tf.nn.compute_average_loss(each, global_batch_size=1)
            return out, *tape.gradient(loss, [layer.gamma, layer.beta])

        @tf.function
        def step(rows: Any) -> Any:
            return s.strategy.run(replica, args=(rows,))

        dataset = tf.data.Dataset.from_tensor_slices(x[:count]).batch(8).repeat()
        batches = iter(s.strategy.experimental_distribute_dataset(dataset))
        first, moving = None, []
        for index in range(5):
            out, *gradients = step(next(batches))
            if index == 0:
                rows = [row for local in s.rows(out) for row in local]
                first = {"out": rows, "gradients": [s.rows(one) for one in gradients]}
            moving.append([layer.moving_mean.numpy(), layer.moving_variance.numpy()])
        constant = tf.constant(x[:3])
        inference = s.strategy.run(lambda: layer(constant, training=False))
        return {"first": first, "moving": moving, "inference": s.rows(inference)}

    for kind in kinds:
        for name, count in {"full": 16, "short_last_batch": 11, "empty_replica": 9}.items():
            for what in ("first", "moving", "inference"):
                yield (
                    f"{kind}/{name}/{what}",
                    lambda kind=kind, count=count, what=what: train(kind, count)[what],
                )


@scenario("train.metrics", GROUP)
def metrics(s: Setting) -> Iterator[Case]:
    tf, m = s.tf, s.tf.keras.metrics
    rows = {
        "value": f32(np.arange(10) * 0.5 + 1),
        "label": np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0], np.int32),
        "weight": f32([1, 2, 0, 1, 0.5, 1, 1, 3, 1, 0.25]),
        "logits": f32(np.sin(np.arange(30).reshape(10, 3) * 1.1)),
        "probability": f32(np.arange(10) / 10.0 + 0.03),
        "binary": f32([0, 0, 1, 0, 1, 1, 0, 1, 1, 1]),
    }
    binary = ("binary", "probability")
    for column in binary:  # a loss is a mean over the last axis
        rows[f"{column}_rows"] = rows[column][:, None]
    kinds = {
        "mean": (lambda: m.Mean(), ("value",)),
        "sum": (lambda: m.Sum(), ("value",)),
        "sparse_accuracy": (lambda: m.SparseCategoricalAccuracy(), ("label", "logits")),
        "sparse_crossentropy": (
            lambda: m.SparseCategoricalCrossentropy(from_logits=True),
            ("label", "logits"),
        ),
        "auc": (lambda: m.AUC(num_thresholds=11), binary),
        "precision": (lambda: m.Precision(), binary),
        "recall": (lambda: m.Recall(), binary),
        "mean_squared_error": (lambda: m.MeanSquaredError(), ("binary_rows", "probability_rows")),
        "root_mean_squared_error": (lambda: m.RootMeanSquaredError(), binary),
        "binary_accuracy": (lambda: m.BinaryAccuracy(), binary),
    }
    with s.strategy.scope():
        made = {
            f"{name}{end}": (make(), columns, end == "/weighted")
            for name, (make, columns) in kinds.items()
            for end in ("", "/weighted")
        }
    held = {name: metric for name, (metric, _, _) in made.items()}

    def update(element: Any) -> None:
        for name, (_, columns, weighted) in made.items():
            weight = element["weight"] if weighted else None
            held[name].update_state(*(element[column] for column in columns), sample_weight=weight)

    after: dict[str, list[Any]] = {name: [] for name in made}

    def train() -> dict[str, list[Any]]:
        if not after["mean"]:
            step = tf.function(lambda element: s.strategy.run(update, args=(element,)))
            dataset = tf.data.Dataset.from_tensor_slices(rows).batch(4)
            for element in s.strategy.experimental_distribute_dataset(dataset):
                step(element)
                for name, metric in held.items():
                    after[name].append(float(metric.result()))
        return after

    for name in made:
        yield f"{name}/after_each_step", lambda name=name: train()[name]
    yield (
        "in_run",
        lambda: s.strategy.run(lambda: {name: metric.result() for name, metric in held.items()}),
    )
    yield "in_scope", lambda: s.in_scope(lambda: float(held["mean"].result()))

    def update_in_scope() -> float:
        held["mean"].update_state([100.0, 200.0])
        return float(held["mean"].result())

    yield "update_in_scope", lambda: s.in_scope(update_in_scope)
    yield "update_outside", update_in_scope

    def reset(name: str) -> float:
        held[name].reset_state()
        return float(held[name].result())

    for name in kinds:
        yield f"{name}/reset", partial(reset, name)


@scenario("train.mean_tensor", GROUP)
def mean_tensor(s: Setting) -> Iterator[Case]:
    """Every replica's update counts."""
    tf = s.tf
    with s.strategy.scope():
        mean = tf.keras.metrics.MeanTensor(shape=[])

    def update(rows: Any) -> None:
        mean.update_state(tf.reduce_sum(rows))

    def step(rows: Any) -> None:
        s.strategy.run(update, args=(rows,))

    def after_each_step() -> list[float]:
        found, compiled = [], tf.function(step)
        dataset = tf.data.Dataset.from_tensor_slices(f32(np.arange(10) * 0.5 + 1)).batch(4)
        for rows in s.strategy.experimental_distribute_dataset(dataset):
            compiled(rows)
            found.append(float(mean.result()))
        return found

    yield "after_each_step", after_each_step
