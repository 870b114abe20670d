"""Parameter servers: one worker that runs one function at a time, so that results can be repeated."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario
from tests.ports import free_addresses

GROUP = "parameter_servers"
STEPS = 6


class _Cluster:
    """A worker and two servers in this process, with the names that cases need."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf
        ports = free_addresses(3)
        spec = tf.train.ClusterSpec({"worker": ports[:1], "ps": ports[1:]})
        for job in ("worker", "ps"):
            for index in range(len(spec.job_tasks(job))):
                tf.distribute.Server(spec, job_name=job, task_index=index, protocol="grpc")
        self.resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")

    @functools.cached_property
    def whole(self) -> Any:
        """A strategy that divides no variable, and its coordinator."""
        return self._coordinated(None)

    @functools.cached_property
    def divided(self) -> Any:
        """A strategy that divides variables in two, and its coordinator."""
        partitioners = self.tf.distribute.experimental.partitioners
        return self._coordinated(partitioners.FixedShardsPartitioner(2))

    def _coordinated(self, partitioner: Any) -> Any:
        strategy = self.tf.distribute.experimental.ParameterServerStrategy(
            self.resolver, variable_partitioner=partitioner
        )
        coordinator = self.tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)
        return strategy, coordinator


@functools.cache
def _cluster(tf: Any) -> _Cluster:
    return _Cluster(tf)


def _rows() -> tuple[Any, Any]:
    i = np.arange(48).reshape(16, 3)
    x = np.sin(i * 0.7 + 0.3)
    return f32(x), f32(x @ [[1.5], [-2.0], [0.5]] + 0.25)


def _optimizers(tf: Any) -> dict[str, Callable[[], Any]]:
    kinds = tf.keras.optimizers
    decay = kinds.schedules.ExponentialDecay
    return {
        "sgd": lambda: kinds.SGD(0.1),
        "momentum": lambda: kinds.SGD(0.1, momentum=0.9),
        "nesterov": lambda: kinds.SGD(0.1, momentum=0.9, nesterov=True),
        "adam": lambda: kinds.Adam(0.05),
        "rmsprop": lambda: kinds.RMSprop(0.05),
        "adagrad": lambda: kinds.Adagrad(0.3),
        "clipped": lambda: kinds.SGD(0.5, global_clipnorm=0.1),
        "schedule": lambda: kinds.SGD(decay(0.2, 2, 0.5)),
    }


def _trained(tf: Any, make: Callable[[], Any], divided: bool) -> dict[str, Any]:
    """Trains a linear model; each function waits for the one before."""
    strategy, coordinator = getattr(_cluster(tf), "divided" if divided else "whole")
    with strategy.scope():
        w = tf.Variable([[0.1], [-0.2], [0.3]], name="w")
        b = tf.Variable([0.0], name="b")
        optimizer = make()
        mean = tf.keras.metrics.Mean()
        # TensorFlow has a variable for each part.
        variables = [*getattr(w, "variables", [w]), *getattr(b, "variables", [b])]
        optimizer.build(variables)
    x, y = _rows()

    def data() -> Any:
        return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(8)

    @tf.function
    def step(iterator: Any) -> Any:
        def replica(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            mean.update_state(loss)
            return loss

        losses = strategy.run(replica, args=next(iterator))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    iterator = iter(coordinator.create_per_worker_dataset(data))
    losses = []
    for _ in range(STEPS):
        losses.append(coordinator.schedule(step, args=(iterator,)).fetch())
    coordinator.join()
    return {
        "losses": losses,
        "w": tf.convert_to_tensor(w).numpy(),
        "b": b.numpy() if not divided else tf.convert_to_tensor(b).numpy(),
        "mean": mean.result().numpy(),
        "iterations": int(optimizer.iterations.numpy()),
    }


@scenario("parameter_servers.train", GROUP, NONE)
def train(s: Setting) -> Iterator[Case]:
    """Optimizers, whose state is on the servers."""
    for name, make in _optimizers(s.tf).items():
        yield f"{name}/whole", functools.partial(_trained, s.tf, make, False)
    for name in ("sgd", "momentum", "adam", "adagrad", "rmsprop"):
        yield f"{name}/divided", functools.partial(_trained, s.tf, _optimizers(s.tf)[name], True)


def _embedded(tf: Any, make: Callable[[], Any], divided: bool) -> dict[str, Any]:
    """Trains a table of which each step looks up some rows, one of them twice."""
    strategy, coordinator = getattr(_cluster(tf), "divided" if divided else "whole")
    with strategy.scope():
        table = tf.Variable(f32(np.cos(np.arange(20).reshape(10, 2))), name="table")
        optimizer = make()
        # TensorFlow has a variable for each part.
        variables = getattr(table, "variables", [table])
        optimizer.build(variables)

    @tf.function
    def step(ids: Any) -> Any:
        def replica() -> Any:
            with tf.GradientTape() as tape:
                rows = tf.nn.embedding_lookup(table, ids)
                loss = tf.reduce_sum(tf.square(rows - 0.5))
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            return loss

        return strategy.reduce("SUM", strategy.run(replica), axis=None)

    losses = []
    for ids in ([1, 1, 7], [0, 9, 5], [7, 3, 1]):
        value = coordinator.schedule(step, args=(tf.constant(ids),))
        losses.append(value.fetch())
    return {"losses": losses, "table": tf.convert_to_tensor(table).numpy()}


@scenario("parameter_servers.embeddings", GROUP, NONE)
def embeddings(s: Setting) -> Iterator[Case]:
    """Lookups in tables."""
    for name in ("sgd", "momentum", "adam", "adagrad", "rmsprop"):
        for form in ("whole", "divided"):
            make = _optimizers(s.tf)[name]
            yield f"{name}/{form}", functools.partial(_embedded, s.tf, make, form == "divided")


def _not_finite(tf: Any, loss: float, divided: bool) -> dict[str, Any]:
    """Clips gradients whose norm is not finite, of a table so large that only some of its rows travel."""
    strategy, coordinator = getattr(_cluster(tf), "divided" if divided else "whole")
    with strategy.scope():
        table = tf.Variable(np.ones((9000, 2), np.float32), name="table")
        weight = tf.Variable(f32([1.0, 2.0]), name="weight")
        optimizer = tf.keras.optimizers.SGD(0.1)
        # TensorFlow has a variable for each part.
        variables = [v for one in (table, weight) for v in getattr(one, "variables", [one])]
        optimizer.build(variables)

    @tf.function
    def step(ids: Any) -> Any:
        def replica() -> Any:
            with tf.GradientTape() as tape:
                rows = tf.nn.embedding_lookup(table, ids)
                total = tf.reduce_sum(rows * tf.convert_to_tensor(weight)) * loss
            gradients, norm = tf.clip_by_global_norm(tape.gradient(total, variables), 1.0)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            return norm

        return strategy.reduce("SUM", strategy.run(replica), axis=None)

    norm = coordinator.schedule(step, args=(tf.constant([5, 8999, 5]),)).fetch()
    finite = np.isfinite(tf.convert_to_tensor(table).numpy()).all(1)
    return {
        "norm is finite": bool(np.isfinite(norm)),
        "rows that are not finite": np.flatnonzero(~finite).tolist(),
        "weight": np.isfinite(tf.convert_to_tensor(weight).numpy()).tolist(),
    }


@scenario("parameter_servers.not_finite", GROUP, NONE)
def not_finite(s: Setting) -> Iterator[Case]:
    """Gradients of rows that are multiplied by NaN: the other rows stay as they are."""
    for name, loss in (("nan", float("nan")), ("infinity", float("inf"))):
        for form in ("whole", "divided"):
            yield f"{name}/{form}", functools.partial(_not_finite, s.tf, loss, form == "divided")


def _counted(tf: Any) -> dict[str, Any]:
    strategy, coordinator = _cluster(tf).whole
    with strategy.scope():
        count = tf.Variable(0)

    @tf.function
    def add(amount: Any) -> Any:
        count.assign_add(amount)

    for amount in range(20):
        coordinator.schedule(add, args=(tf.constant(amount),))
    coordinator.join()
    return {"count": count.numpy(), "done": coordinator.done()}


def _failed(tf: Any) -> list[Any]:
    _, coordinator = _cluster(tf).whole

    @tf.function
    def fail(x: Any) -> Any:
        tf.debugging.assert_less(x, tf.constant(1))

    found: list[Any] = []
    coordinator.schedule(fail, args=(tf.constant(2),))
    for _ in range(2):
        try:
            coordinator.join()
            found.append("joined")
        except Exception:
            found.append("raised")
    found.append(coordinator.schedule(tf.function(lambda: tf.constant(3))).fetch())
    return found


@scenario("parameter_servers.coordinator", GROUP, NONE)
def coordinator(s: Setting) -> Iterator[Case]:
    """What a coordinator does with functions and their results."""
    tf = s.tf

    def fetched() -> Any:
        _, coordinator = _cluster(tf).whole
        values = [coordinator.schedule(tf.function(lambda n=n: tf.constant(n))) for n in (1, 2)]
        return coordinator.fetch({"a": values[0], "b": [values[1], 7]})

    yield "counted", lambda: _counted(tf)
    yield "after_an_error", lambda: _failed(tf)
    yield "fetched", fetched


@scenario("parameter_servers.fit", GROUP, NONE)
def fit(s: Setting) -> Iterator[Case]:
    """`model.fit` with a `DatasetCreator`."""
    tf = s.tf

    def fitted(make: Callable[[], Any], steps_per_execution: int) -> Any:
        strategy, _ = _cluster(tf).whole
        x, y = _rows()
        with strategy.scope():
            model = tf.keras.Sequential(
                [
                    tf.keras.layers.Dense(
                        1, kernel_initializer=tf.keras.initializers.Constant(0.1), input_shape=(3,)
                    )
                ]
            )
            model.compile(make(), "mse", metrics=["mae"], steps_per_execution=steps_per_execution)

        def data(context: Any) -> Any:
            return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(8)

        creator = tf.keras.utils.experimental.DatasetCreator(data)
        # One step in an epoch: TensorFlow's worker would begin the next one before it has ended.
        history = model.fit(creator, epochs=5, steps_per_epoch=steps_per_execution, verbose=0)
        return {"history": history.history, "weights": model.get_weights()}

    for name in ("sgd", "momentum", "adam"):
        make = _optimizers(tf)[name]
        yield name, functools.partial(fitted, make, 1)
    yield "several_at_once", functools.partial(fitted, _optimizers(tf)["sgd"], 2)
    creator = getattr(tf.keras.utils.experimental, "DatasetCreator", None)
    yield "creator_of_no_function", lambda: creator(3)  # pyright: ignore[reportOptionalCall]
