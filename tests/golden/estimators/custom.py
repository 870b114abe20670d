"""Model functions: optimizers, learning rates, layers with UPDATE_OPS, several losses, clipping."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.estimators.base import config, folder, input_fn, recorded, run, wave, waves
from tests.golden.scenarios.base import Case, Setting, f32

GROUP = "custom"
BOTH = ("none", "n2")


def strategies(s: Setting) -> dict[str, Any]:
    """The options of a RunConfig that stand for the setting."""
    if s.strategy is None:
        return {}
    # A session has one CPU unless told, where collective operations of two replicas wait for each other for ever.
    session = s.tf.compat.v1.ConfigProto(device_count={"CPU": s.n}, allow_soft_placement=True)
    return {"train_distribute": s.strategy, "session_config": session}


# ---------------------------------------------------------------- a linear regression


def rows(count: int = 32) -> tuple[dict[str, Any], Any]:
    x = wave([count, 3], 0.3, 1.0)
    y = x @ f32([[1.5], [-2.0], [0.5]]) + 0.25 + 0.1 * np.cos(np.arange(count))[:, None]
    return {"x": x}, f32(y)


class _Fetch:
    """Makes a hook that keeps what it fetches in each step."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf
        self.values: list[Any] = []

    def hook(self, fetches: Any) -> Any:
        v1, values = self.tf.compat.v1, self.values

        class Hook(v1.train.SessionRunHook):
            def before_run(self, run_context: Any) -> Any:
                return v1.train.SessionRunArgs(fetches)

            def after_run(self, run_context: Any, run_values: Any) -> None:
                values.append(run_values.results)

        return Hook()


def regression(
    tf: Any,
    optimizer: Callable[[Any], Any],
    rate: Callable[[Any], Any] = lambda step: 0.1,
    fetch: _Fetch | None = None,
) -> Callable[..., Any]:
    """A linear regression, with an optimizer of the given learning rate, which depends on the step."""
    v1 = tf.compat.v1

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        with v1.variable_scope("linear"):
            w = v1.get_variable("w", [3, 1], initializer=v1.constant_initializer(wave([3, 1], 0.1)))
            b = v1.get_variable("b", [1], initializer=v1.zeros_initializer())
        y = tf.matmul(features["x"], w) + b
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss)
        step = v1.train.get_global_step()
        learning_rate = rate(step)
        train_op = optimizer(learning_rate).minimize(loss, global_step=step)
        hooks = [] if fetch is None else [fetch.hook({"rate": learning_rate, "loss": loss})]
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn


@recorded("estimator.regression", GROUP, BOTH)
def sgd_with_decay(s: Setting) -> Iterator[Case]:
    train = s.tf.compat.v1.train
    model_fn = regression(
        s.tf,
        train.GradientDescentOptimizer,
        lambda step: train.exponential_decay(0.2, step, 2, 0.7, staircase=True),
    )
    x, y = rows()
    yield from run(
        lambda: s.tf.estimator.Estimator(model_fn, folder(), config=config(s.tf, **strategies(s))),
        input_fn(s.tf, x, y),
        input_fn(s.tf, x, y, repeat=False),
        input_fn(s.tf, x, repeat=False),
        prefix="sgd/",
    )


@recorded("estimator.optimizers", GROUP)
def optimizers(s: Setting) -> Iterator[Case]:
    train = s.tf.compat.v1.train
    x, y = rows()
    for name, optimizer in {
        "sgd": train.GradientDescentOptimizer,
        "momentum": lambda rate: train.MomentumOptimizer(rate, 0.9),
        "nesterov": lambda rate: train.MomentumOptimizer(rate, 0.9, use_nesterov=True),
        "adagrad": train.AdagradOptimizer,
        "adagrad_start": lambda rate: train.AdagradOptimizer(rate, initial_accumulator_value=0.5),
        "adam": train.AdamOptimizer,
        "adam_options": lambda rate: train.AdamOptimizer(rate, beta1=0.8, beta2=0.95, epsilon=1e-2),
        "ftrl": train.FtrlOptimizer,
        "ftrl_l1_l2": lambda rate: train.FtrlOptimizer(
            rate, l1_regularization_strength=0.05, l2_regularization_strength=0.1
        ),
        "ftrl_shrinkage": lambda rate: train.FtrlOptimizer(
            rate,
            learning_rate_power=-0.4,
            initial_accumulator_value=0.2,
            l2_shrinkage_regularization_strength=0.05,
        ),
        "rmsprop": train.RMSPropOptimizer,
        "rmsprop_momentum": lambda rate: train.RMSPropOptimizer(rate, 0.8, momentum=0.5),
        "rmsprop_centered": lambda rate: train.RMSPropOptimizer(rate, centered=True),
        "adadelta": lambda rate: train.AdadeltaOptimizer(rate * 10),
        "proximal_adagrad": lambda rate: train.ProximalAdagradOptimizer(
            rate, l1_regularization_strength=0.01
        ),
        "proximal_sgd": lambda rate: train.ProximalGradientDescentOptimizer(
            rate, l1_regularization_strength=0.01, l2_regularization_strength=0.02
        ),
    }.items():
        yield from run(
            lambda optimizer=optimizer: s.tf.estimator.Estimator(
                regression(s.tf, optimizer), folder(), config=config(s.tf)
            ),
            input_fn(s.tf, x, y),
            prefix=f"{name}/",
        )


@recorded("estimator.rates", GROUP)
def rates(s: Setting) -> Iterator[Case]:
    tf, train = s.tf, s.tf.compat.v1.train
    x, y = rows()

    def warm_up(step: Any) -> Any:
        """As BERT's: linear up to the third step, then a polynomial decay."""
        step = tf.cast(step, tf.float32)
        decayed = train.polynomial_decay(0.2, step, 8, end_learning_rate=0.0, power=1.0)
        is_warmup = tf.cast(step < 3.0, tf.float32)
        return (1.0 - is_warmup) * decayed + is_warmup * (0.2 * step / 3.0)

    def warm_up_cond(step: Any) -> Any:
        return tf.cond(
            tf.less(step, 3),
            lambda: 0.05 * tf.cast(step + 1, tf.float32),
            lambda: train.exponential_decay(0.2, step - 3, 2, 0.5),
        )

    for name, rate in {
        "exponential": lambda step: train.exponential_decay(0.2, step, 3, 0.5),
        "staircase": lambda step: train.exponential_decay(0.2, step, 3, 0.5, staircase=True),
        "piecewise": lambda step: train.piecewise_constant(step, [1, 4], [0.2, 0.1, 0.05]),
        "piecewise_decay": lambda step: train.piecewise_constant_decay(step, [2], [0.2, 0.1]),
        "polynomial": lambda step: train.polynomial_decay(0.2, step, 5, 0.01, power=2.0),
        "polynomial_cycle": lambda step: train.polynomial_decay(0.2, step, 4, 0.01, cycle=True),
        "cosine": lambda step: train.cosine_decay(0.2, step, 5, alpha=0.1),
        "cosine_restarts": lambda step: train.cosine_decay_restarts(0.2, step, 3),
        "linear_cosine": lambda step: train.linear_cosine_decay(0.2, step, 5),
        "inverse_time": lambda step: train.inverse_time_decay(0.2, step, 3, 0.5),
        "natural_exp": lambda step: train.natural_exp_decay(0.2, step, 3, 0.5),
        "warm_up": warm_up,
        "warm_up_cond": warm_up_cond,
    }.items():

        def fetched(rate: Any = rate) -> Any:
            fetch = _Fetch(tf)
            model_fn = regression(tf, train.GradientDescentOptimizer, rate, fetch)
            estimator = tf.estimator.Estimator(model_fn, folder())
            estimator.train(input_fn(tf, x, y), steps=8)
            return fetch.values

        yield f"sgd/{name}", fetched


# ---------------------------------------------------------------- a convolutional network


def images(count: int = 24) -> tuple[Any, Any]:
    """Images of 8x8, and which third of them is bright."""
    x = wave([count, 8, 8, 1], 0.2, 0.3)
    y = np.arange(count) % 3
    for index, label in enumerate(y):
        x[index, 2 * label : 2 * label + 3] += 0.7
    return x, y.astype(np.int32)


def network(tf: Any, optimizer: Callable[[], Any]) -> Callable[..., Any]:
    """Convolution, batch normalization with UPDATE_OPS, pooling, two dense layers and dropout that keeps all."""
    v1 = tf.compat.v1
    layers = v1.layers

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        training = mode == tf.estimator.ModeKeys.TRAIN
        with v1.variable_scope("", initializer=waves(tf)):
            x = layers.conv2d(features, 3, 3, padding="same", use_bias=False)
            x = layers.batch_normalization(x, training=training, momentum=0.9)
            x = layers.max_pooling2d(tf.nn.relu(x), 2, 2)
            x = layers.flatten(x)
            x = layers.dense(x, 6, activation=tf.nn.relu)
            x = layers.dropout(x, rate=params["rate"], training=training)
            logits = layers.dense(x, 3, name="logits")
        classes = tf.argmax(logits, axis=1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(
                mode, predictions={"classes": classes, "probabilities": tf.nn.softmax(logits)}
            )
        loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        if mode == tf.estimator.ModeKeys.EVAL:
            metrics = {"accuracy": v1.metrics.accuracy(labels=labels, predictions=classes)}
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        update_ops = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(update_ops):
            train_op = optimizer().minimize(loss, global_step=v1.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


@recorded("estimator.network", GROUP, BOTH)
def convolutional(s: Setting) -> Iterator[Case]:
    train = s.tf.compat.v1.train
    x, y = images()
    for name, optimizer in {
        "sgd": lambda: train.GradientDescentOptimizer(0.05),
        "adam": lambda: train.AdamOptimizer(0.01),
    }.items():
        yield from run(
            lambda optimizer=optimizer: s.tf.estimator.Estimator(
                network(s.tf, optimizer),
                folder(),
                config=config(s.tf, **strategies(s)),
                params={"rate": 0.0},
            ),
            input_fn(s.tf, x, y),
            input_fn(s.tf, x, y, repeat=False),
            input_fn(s.tf, x, repeat=False),
            prefix=f"{name}/",
        )


# ---------------------------------------------------------------- gradients by hand, several losses


@recorded("estimator.clipping", GROUP)
def clipping(s: Setting) -> Iterator[Case]:
    tf, v1 = s.tf, s.tf.compat.v1
    x, y = rows()

    def model(apply: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            hidden = v1.layers.dense(
                features["x"], 4, activation=tf.nn.tanh, kernel_initializer=waves(tf)
            )
            y = v1.layers.dense(hidden, 1, kernel_initializer=waves(tf, 1.0))
            loss = v1.losses.mean_squared_error(labels, y)
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=apply(loss, v1))

        return model_fn

    def by_global_norm(loss: Any, v1: Any) -> Any:
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        gradients, weights = zip(*optimizer.compute_gradients(loss), strict=True)
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
        return optimizer.apply_gradients(
            zip(gradients, weights, strict=True), global_step=v1.train.get_global_step()
        )

    def by_value(loss: Any, v1: Any) -> Any:
        optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
        pairs = optimizer.compute_gradients(loss)
        pairs = [(tf.clip_by_value(one, -0.1, 0.1), weight) for one, weight in pairs]
        return optimizer.apply_gradients(pairs, global_step=v1.train.get_global_step())

    def by_norm_of_gradients(loss: Any, v1: Any) -> Any:
        weights = v1.trainable_variables()
        gradients = v1.gradients(loss, weights)
        pairs = [(tf.clip_by_norm(g, 0.2), w) for g, w in zip(gradients, weights, strict=True)]
        optimizer = v1.train.AdamOptimizer(0.01)
        train_op = optimizer.apply_gradients(pairs)
        return tf.group(train_op, v1.assign_add(v1.train.get_global_step(), 1))

    def some_variables(loss: Any, v1: Any) -> Any:
        weights = v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, scope="dense_1")
        return v1.train.GradientDescentOptimizer(0.1).minimize(
            loss, v1.train.get_global_step(), var_list=weights
        )

    def averaged(loss: Any, v1: Any) -> Any:
        step = v1.train.get_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        average = tf.train.ExponentialMovingAverage(0.9, step)
        with tf.control_dependencies([train_op]):
            return average.apply(v1.trainable_variables())

    for name, apply in {
        "sgd_global_norm": by_global_norm,
        "momentum_value": by_value,
        "adam_norm": by_norm_of_gradients,
        "sgd_some_variables": some_variables,
        "sgd_moving_average": averaged,
    }.items():
        yield from run(
            lambda apply=apply: tf.estimator.Estimator(model(apply), folder(), config=config(tf)),
            input_fn(tf, x, y),
            prefix=f"{name}/",
        )


@recorded("estimator.several_losses", GROUP)
def several_losses(s: Setting) -> Iterator[Case]:
    tf, v1 = s.tf, s.tf.compat.v1
    x, y = rows()
    labels = {"value": y, "sign": (y > 0).astype(np.int32), "kind": np.arange(len(y)) % 3}

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        l2 = tf.keras.regularizers.l2(0.01)
        with v1.variable_scope("trunk", initializer=waves(tf), regularizer=l2):
            trunk = v1.layers.dense(features["x"], 4, tf.nn.relu, name="shared")
        with v1.variable_scope("heads", initializer=waves(tf, 1.0)):
            value = v1.layers.dense(trunk, 1, name="value")
            sign = v1.layers.dense(trunk, 1, name="sign")
            kind = v1.layers.dense(
                trunk, 3, name="kind", kernel_regularizer=tf.keras.regularizers.l1(0.02)
            )
        predictions = {
            "value": value,
            "sign": tf.sigmoid(sign),
            "kind": tf.argmax(kind, axis=-1, output_type=tf.int32),
        }
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        v1.losses.mean_squared_error(labels["value"], value, weights=0.5)
        v1.losses.sigmoid_cross_entropy(labels["sign"], sign, scope="sign_loss")
        v1.losses.softmax_cross_entropy(tf.one_hot(labels["kind"], 3), kind, label_smoothing=0.1)
        loss = v1.losses.get_total_loss()
        of_data, of_weights = v1.losses.get_losses(), v1.losses.get_regularization_losses()
        metrics = {
            "parts/data": v1.metrics.mean(tf.add_n(of_data)),
            "parts/weights": v1.metrics.mean(tf.add_n(of_weights)),
            "parts/weights_again": v1.metrics.mean(v1.losses.get_regularization_loss()),
            "parts/count": v1.metrics.mean(float(len(of_data) * 10 + len(of_weights))),
            "kind": v1.metrics.accuracy(labels["kind"], predictions["kind"]),
        }
        train_op = None
        if mode == tf.estimator.ModeKeys.TRAIN:
            step = v1.train.get_global_step()
            train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return tf.estimator.EstimatorSpec(
            mode, predictions, loss, train_op=train_op, eval_metric_ops=metrics
        )

    yield from run(
        lambda: tf.estimator.Estimator(model_fn, folder(), config=config(tf)),
        input_fn(tf, x, labels),
        input_fn(tf, x, labels, repeat=False),
        input_fn(tf, x, repeat=False),
        prefix="sgd/",
    )
