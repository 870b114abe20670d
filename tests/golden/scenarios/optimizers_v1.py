"""`tf.compat.v1.train`: optimizers step by step, learning rates, moving averages and the global step."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

from tests.golden.scenarios.base import Case, Setting, f32, scenario
from tests.golden.scenarios.training import examples

GROUP = "optimizers_v1"
START = [[0.4, -0.3], [0.2, 0.1], [-0.5, 0.0]]
STEPS = 4


def named_optimizers(train: Any, rate: Any) -> dict[str, Callable[[], Any]]:
    """Returns what makes the optimizers, by name."""
    return {
        "gradient_descent": lambda: train.GradientDescentOptimizer(rate),
        "momentum": lambda: train.MomentumOptimizer(rate, 0.9),
        "nesterov": lambda: train.MomentumOptimizer(rate, 0.9, use_nesterov=True),
        "adam": lambda: train.AdamOptimizer(rate),
        "adam_epsilon": lambda: train.AdamOptimizer(rate, 0.8, 0.9, epsilon=0.1),
        "adagrad": lambda: train.AdagradOptimizer(rate),
        "adagrad_start": lambda: train.AdagradOptimizer(rate, 1.0),
        "rmsprop": lambda: train.RMSPropOptimizer(rate),
        "rmsprop_momentum": lambda: train.RMSPropOptimizer(rate, 0.8, 0.5, 1e-3),
        "rmsprop_centered": lambda: train.RMSPropOptimizer(rate, 0.8, 0.5, centered=True),
        "adadelta": lambda: train.AdadeltaOptimizer(rate, 0.9, 1e-3),
        "ftrl": lambda: train.FtrlOptimizer(0.1),
        "ftrl_penalties": lambda: train.FtrlOptimizer(0.1, -0.6, 0.2, 0.05, 0.1, beta=0.3),
        "ftrl_shrinkage": lambda: train.FtrlOptimizer(
            0.1, l1_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.2
        ),
        "proximal_gradient_descent": lambda: train.ProximalGradientDescentOptimizer(0.1, 0.3, 0.2),
        "proximal_adagrad": lambda: train.ProximalAdagradOptimizer(0.1, 0.1, 0.3, 0.2),
    }


def _loss(tf: Any, w: Any, x: Any) -> Any:
    return tf.reduce_mean(tf.square(tf.matmul(x, w) - tf.reduce_sum(x, axis=1, keepdims=True)))


def _kept(optimizer: Any, w: Any) -> dict[str, Any]:
    return {name: optimizer.get_slot(w, name).numpy() for name in optimizer.get_slot_names()}


def _in_replicas(s: Setting, name: str) -> dict[str, Any]:
    """Trains under a strategy, with a learning rate that falls to half after two steps."""
    tf = s.tf
    with s.strategy.scope():
        w, rate, count = (
            tf.Variable(START, name="w"),
            tf.Variable(0.02, trainable=False),
            _count(tf),
        )
        optimizer = named_optimizers(tf.compat.v1.train, lambda: rate)[name]()
    rows = f32(examples(6)[0])

    @tf.function
    def step(x: Any) -> None:
        def replica(x: Any) -> None:
            x = x * (1.0 + s.number())
            optimizer.minimize(lambda: _loss(tf, w, x), count, [w])

        s.strategy.run(replica, (x,))

    found = []
    for index in range(STEPS):
        rate.assign(0.02 if index < 2 else 0.01)
        step(tf.constant(rows))
        found.append(w.numpy())
    return {"weights": found, "count": count.numpy()} | _kept(optimizer, w)


def _count(tf: Any) -> Any:
    aggregation = tf.VariableAggregation.ONLY_FIRST_REPLICA
    return tf.Variable(tf.constant(0, tf.int64), trainable=False, aggregation=aggregation)


@scenario("optimizers_v1.replicas", GROUP, ("default", "n2"))
def in_replicas(s: Setting) -> Iterator[Case]:
    """Each optimizer in a compiled step."""
    for name in named_optimizers(s.tf.compat.v1.train, 0.1):
        yield name, functools.partial(_in_replicas, s, name)


def _eager(tf: Any, name: str, sparse: bool) -> dict[str, Any]:
    """Applies gradients at once; of some rows, of which one comes twice."""
    w = tf.Variable(START, name="w")
    optimizer = named_optimizers(tf.compat.v1.train, 0.1)[name]()
    count, found = _count(tf), []
    for index in range(STEPS):
        gradient = tf.constant(f32([[0.5, -1.0], [1.0, 0.3], [0.2, 0.1]]) * (index + 1))
        if sparse:
            rows = [0, 2, 0] if index < 2 else [1, 1, 0]
            gradient = tf.IndexedSlices(gradient, tf.constant(rows), tf.constant([3, 2]))
        optimizer.apply_gradients([(gradient, w)], global_step=count)
        found.append(w.numpy())
    return {"weights": found, "count": count.numpy()} | _kept(optimizer, w)


@scenario("optimizers_v1.eager", GROUP, ("none",))
def eager(s: Setting) -> Iterator[Case]:
    """Each optimizer with gradients of all rows, and of some."""
    for name in named_optimizers(s.tf.compat.v1.train, 0.1):
        yield f"{name}/dense", functools.partial(_eager, s.tf, name, False)
        yield f"{name}/sparse", functools.partial(_eager, s.tf, name, True)


def _rates(train: Any, step: Any) -> dict[str, Callable[[], Any]]:
    return {
        "exponential": lambda: train.exponential_decay(0.1, step, 4, 0.5),
        "exponential_staircase": lambda: train.exponential_decay(0.1, step, 4, 0.5, staircase=True),
        "natural_exp": lambda: train.natural_exp_decay(0.1, step, 4, 0.5),
        "natural_exp_staircase": lambda: train.natural_exp_decay(0.1, step, 4, 0.5, True),
        "inverse_time": lambda: train.inverse_time_decay(0.1, step, 4, 0.5),
        "inverse_time_staircase": lambda: train.inverse_time_decay(0.1, step, 4, 0.5, True),
        "piecewise": lambda: train.piecewise_constant(step, [3, 6], [0.1, 0.01, 0.001]),
        "piecewise_decay": lambda: train.piecewise_constant_decay(step, [5], [0.1, 0.05]),
        "piecewise_fractions": lambda: train.piecewise_constant(step, [3.5], [0.1, 0.05]),
        "polynomial": lambda: train.polynomial_decay(0.1, step, 6),
        "polynomial_power": lambda: train.polynomial_decay(0.1, step, 6, 0.01, power=2.0),
        "polynomial_cycle": lambda: train.polynomial_decay(0.1, step, 4, 0.01, 0.5, cycle=True),
        "cosine": lambda: train.cosine_decay(0.1, step, 6),
        "cosine_alpha": lambda: train.cosine_decay(0.1, step, 6, alpha=0.2),
        "restarts": lambda: train.cosine_decay_restarts(0.1, step, 3),
        "restarts_even": lambda: train.cosine_decay_restarts(0.1, step, 3, 1.0, 0.5, 0.1),
        "linear_cosine": lambda: train.linear_cosine_decay(0.1, step, 8),
        "linear_cosine_periods": lambda: train.linear_cosine_decay(0.1, step, 8, 2.0, 0.1, 0.01),
        "noisy_linear_cosine_still": lambda: train.noisy_linear_cosine_decay(
            0.1, step, 8, initial_variance=0.0
        ),
    }


def _rate(tf: Any, name: str) -> list[Any]:
    step = tf.Variable(tf.constant(0, tf.int64), trainable=False)
    rate, found = _rates(tf.compat.v1.train, step)[name](), []
    for _ in range(10):
        found.append(rate().numpy())
        step.assign_add(1)
    return found


@scenario("optimizers_v1.rates", GROUP, ("none",))
def rates(s: Setting) -> Iterator[Case]:
    """Learning rates of the first steps."""
    for name in _rates(s.tf.compat.v1.train, 0):
        yield name, functools.partial(_rate, s.tf, name)


def _averaged(s: Setting, train: str, **options: Any) -> list[Any]:
    tf = s.tf
    namespace = tf.compat.v1.train if train == "v1" else tf.train
    with s.strategy.scope():
        w, count = tf.Variable([1.0, -2.0], name="w"), _count(tf)
        if options.pop("counted", False):
            options["num_updates"] = count
        averages = namespace.ExponentialMovingAverage(0.8, **options)
        averages.apply([w])
    found = []

    @tf.function
    def step() -> None:
        def replica() -> None:
            count.assign_add(1)
            averages.apply([w])

        s.strategy.run(replica)

    for _ in range(STEPS):
        w.assign(w * 2.0)
        step()
        found.append(averages.average(w).numpy())
    return found


@scenario("optimizers_v1.averages", GROUP, ("default", "n2"))
def averages(s: Setting) -> Iterator[Case]:
    """Moving averages of a variable."""
    for train in ("v1", "v2"):
        yield f"{train}/plain", functools.partial(_averaged, s, train)
        yield f"{train}/counted", functools.partial(_averaged, s, train, counted=True)
        yield f"{train}/named", functools.partial(_averaged, s, train, name="shadow")


@scenario("optimizers_v1.errors", GROUP, ("none",))
def errors(s: Setting) -> Iterator[Case]:
    """What is refused."""
    tf = s.tf
    train = tf.compat.v1.train
    descent = train.GradientDescentOptimizer
    w = tf.Variable(1.0)
    yield "no_name", lambda: descent(0.1, name="")
    yield "no_variables", lambda: descent(0.1).apply_gradients([])
    yield "no_gradients", lambda: descent(0.1).apply_gradients([(None, w)])
    yield "unconnected", lambda: descent(0.1).minimize(lambda: tf.constant(1.0), var_list=[w])
    yield "tensor", lambda: descent(0.1).minimize(tf.constant(1.0), var_list=[w])
    yield "adagrad_start", lambda: train.AdagradOptimizer(0.1, 0.0)
    yield "ftrl_l1", lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0)
    yield "ftrl_power", lambda: train.FtrlOptimizer(0.1, learning_rate_power=0.5)
    yield "whole_steps", lambda: train.piecewise_constant(tf.constant(1), [1.5], [0.1, 0.2])
    yield (
        "average_of_integer",
        lambda: tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1)]),
    )
    yield (
        "average_of_tensor",
        lambda: tf.train.ExponentialMovingAverage(0.9).apply([tf.constant(1.0)]),
    )
    yield "fraction_of_a_step", lambda: train.assert_global_step(tf.Variable(0.0))
    yield "no_single_step", lambda: train.assert_global_step(tf.Variable([0]))
