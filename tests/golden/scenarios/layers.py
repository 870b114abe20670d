"""Layers of TensorFlow 1: what they compute, their gradients, the names of their variables, what they add to collections.

TensorFlow builds a graph and runs it in a session; ours traces the same code in a graph of its own. Numbers are
multiples of 1/4, so that sums of products are exact.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, scenario

GROUP = "layers"


def numbers(*shape: int) -> np.ndarray:
    """Quarters from -5/4 to 5/4, in an order that no axis repeats."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 % 11 - 5) / 4).astype(np.float32).reshape(shape)


def distinct(*shape: int) -> np.ndarray:
    """Quarters in a mixed order, each of them once."""
    count = int(np.prod(shape))
    return (np.arange(count) * 37 % count / 4).astype(np.float32).reshape(shape)


def weights(*shape: int) -> np.ndarray:
    """Quarters above zero, in another order."""
    count = int(np.prod(shape))
    return ((np.arange(count) ** 2 * 5 % 9 + 1) / 4).astype(np.float32).reshape(shape)


def initial(shape: Any, dtype: Any = None, partition_info: Any = None) -> np.ndarray:
    """An initializer without chance."""
    return numbers(*map(int, shape))


class Built:
    """What some code of TensorFlow 1 builds, and runs.

    Attributes:
        v1: `tf.compat.v1`.
        layers: `tf.compat.v1.layers`.
    """

    def __init__(self, s: Setting) -> None:
        self.tf, self.v1 = s.tf, s.tf.compat.v1
        self.layers = self.v1.layers

    def run(self, build: Callable[["Built"], Any], *, updates: int = 0) -> dict[str, Any]:
        """Computes what `build` returns; then runs the updates, and reads the variables."""
        if self.tf.__name__ != "tensorflow":
            return self._run_ours(build, updates)
        with self.tf.Graph().as_default(), self.v1.variable_scope("", initializer=initial):
            result = build(self)
            operations = self.v1.get_collection("update_ops")
            variables = self.v1.global_variables()
            penalties = self.v1.get_collection("regularization_losses")
            with self.v1.Session() as session:
                session.run(self.v1.global_variables_initializer())
                result, penalties = session.run((result, penalties))
                for _ in range(updates):
                    session.run(operations)
                values = session.run(variables)
        return self._found(result, penalties, operations, variables, values, updates)

    def _run_ours(self, build: Callable[["Built"], Any], updates: int) -> dict[str, Any]:
        """Traces the code in a step, as an estimator does."""
        from frontends.tf.graph import Graph, VariableStore

        store, made = VariableStore(), []

        def replica() -> Any:
            graph = Graph(store)
            with graph.as_default(), self.v1.variable_scope("", initializer=initial):
                result = build(self)
                operations = self.v1.get_collection("update_ops")
                made[:] = operations, self.v1.global_variables()
                for _ in range(updates):
                    graph.run(operations)
                return result, self.v1.get_collection("regularization_losses")

        result, penalties = self.tf.distribute.get_strategy().run(replica)
        operations, variables = made
        values = [one.numpy() for one in variables]
        return self._found(result, penalties, operations, variables, values, updates)

    def _found(
        self,
        result: Any,
        penalties: Any,
        operations: Any,
        variables: Any,
        values: Any,
        updates: int,
    ) -> dict[str, Any]:
        found = {
            "result": result,
            "trainable": [one.name for one in variables if one.trainable],
            "others": [one.name for one in variables if not one.trainable],
            "updates": len(operations),
            "penalties": penalties,
        }
        return found | {"values": values} if updates else found

    def differentiated(self, function: Callable[[Any], Any], x: Any) -> Any:
        """A result, and the gradients of a weighted sum of its squares with respect to the variables and to `x`.

        Gradients are added to 8: parts of them cancel, and of what is left near zero the digits are rounding.
        """
        x = self.tf.constant(x)
        with self.tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            loss = self.tf.reduce_sum(y * y * weights(*map(int, y.shape)))
        gradients = tape.gradient(loss, [*self.v1.trainable_variables(), x])
        return y, [8.0 + gradient for gradient in gradients]


@scenario("layers.values", GROUP, NONE)
def values(s: Setting) -> Iterator[Case]:
    def of(name: str, x: np.ndarray, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        b = Built(s)
        function = getattr(b.layers, name)
        return lambda: b.run(lambda _: b.differentiated(lambda x: function(x, *args, **kwargs), x))

    relu, tanh = s.tf.nn.relu, s.tf.nn.tanh
    flat, steps = numbers(3, 4), numbers(2, 5, 3)
    image, volume = numbers(2, 5, 6, 2), numbers(1, 4, 3, 4, 2)
    yield "dense", of("dense", flat, 3)
    yield "dense_of_steps", of("dense", steps, 2, activation=relu, use_bias=False)
    yield "dense_tanh", of("dense", flat, 2, activation=tanh, bias_initializer=initial)
    yield "conv1d", of("conv1d", steps, 2, 3)
    yield "conv1d_dilated", of("conv1d", steps, 2, 2, dilation_rate=2, padding="same")
    yield "conv2d", of("conv2d", image, 3, (2, 3), activation=relu, bias_initializer=initial)
    yield "conv2d_same", of("conv2d", image, 2, 3, strides=(2, 1), padding="same")
    yield "conv2d_dilated", of("conv2d", image, 2, 2, dilation_rate=(2, 3), use_bias=False)
    yield "conv3d", of("conv3d", volume, 2, 2, strides=(2, 1, 2), padding="SAME")
    yield "transposed", of("conv2d_transpose", image, 3, (3, 2), strides=(2, 2))
    yield "transposed_same", of("conv2d_transpose", image, 3, 3, strides=2, padding="same")
    yield "transposed_far", of("conv2d_transpose", image, 2, 2, strides=3, padding="same")
    yield "transposed_3d", of("conv3d_transpose", volume, 2, 2, strides=2, use_bias=False)
    yield "separable", of("separable_conv2d", image, 3, 3, depth_multiplier=2)
    yield "separable_same", of("separable_conv2d", image, 2, 3, 2, "same", use_bias=False)
    yield "separable_1d", of("separable_conv1d", steps, 2, 2, depth_multiplier=2)
    # Numbers that all differ: TensorFlow's gradient of the largest of several equal ones depends on the rank.
    steps, image, volume = distinct(2, 5, 3), distinct(2, 5, 6, 2), distinct(1, 4, 3, 4, 2)
    for padding in ("valid", "same"):
        yield f"max1_{padding}", of("max_pooling1d", steps, 2, 2, padding)
        yield f"max2_{padding}", of("max_pooling2d", image, (2, 3), (2, 1), padding)
        yield f"max3_{padding}", of("max_pooling3d", volume, 2, 2, padding)
        yield f"average1_{padding}", of("average_pooling1d", steps, 3, 2, padding)
        yield f"average2_{padding}", of("average_pooling2d", image, 2, 2, padding)
        yield f"average3_{padding}", of("average_pooling3d", volume, 2, (2, 1, 2), padding)
    yield "flatten", of("flatten", image)
    yield "flatten_channels_first", of("flatten", image, data_format="channels_first")
    yield "flatten_vector", of("flatten", numbers(3))
    yield "dropout", of("dropout", flat)


@scenario("layers.batch_normalization", GROUP, NONE)
def batch_normalization(s: Setting) -> Iterator[Case]:
    def of(x: np.ndarray, *args: Any, updates: int = 2, **kwargs: Any) -> Callable[[], Any]:
        def build(b: Built) -> Any:
            return b.differentiated(lambda x: b.layers.batch_normalization(x, *args, **kwargs), x)

        return lambda: Built(s).run(build, updates=updates)

    def of_tensor(x: np.ndarray, training: bool) -> Callable[[], Any]:
        def build(b: Built) -> Any:
            # Known to the running program only.
            flag = b.v1.get_variable(
                "flag", [], initializer=b.v1.constant_initializer(training), trainable=False
            )
            return b.differentiated(
                lambda x: b.layers.batch_normalization(x, training=flag > 0.5), x
            )

        return lambda: Built(s).run(build, updates=2)

    flat, steps, image, volume = (
        numbers(5, 3),
        numbers(3, 4, 2),
        numbers(3, 2, 4, 3),
        numbers(2, 2, 3, 2, 2),
    )
    yield "inference", of(flat, updates=0)
    yield "inference_of_images", of(image, updates=0)
    for training in (True, False):
        yield f"flat_{training}", of(flat, training=training)
        yield f"tensor_{training}", of_tensor(flat, training)
        yield f"tensor_of_images_{training}", of_tensor(image, training)
    yield "images", of(image, training=True, momentum=0.75, epsilon=0.125)
    yield "not_fused", of(image, training=True, fused=False)
    yield "volumes", of(volume, training=True, fused=True)
    yield "steps", of(steps, training=True, axis=1)
    yield "several_axes", of(steps, [1, 2], training=True)
    yield "not_trainable", of(flat, training=True, trainable=False)
    yield "bare", of(flat, training=True, center=False, scale=False)
    yield "one_row", of(numbers(1, 1, 1, 3), training=True)
    yield (
        "regularized",
        of(
            flat,
            training=True,
            beta_regularizer=s.tf.nn.l2_loss,
            gamma_regularizer=s.tf.nn.l2_loss,
            gamma_initializer=initial,
            beta_initializer=initial,
        ),
    )


@scenario("layers.names", GROUP, NONE)
def names(s: Setting) -> Iterator[Case]:
    b = Built(s)
    v1, layers = b.v1, b.layers

    def case(build: Callable[[Any], Any]) -> Callable[[], Any]:
        def run(_: Any) -> Any:
            x = s.tf.constant(numbers(2, 4))
            build(x)
            return x

        return lambda: b.run(run)

    def twice(**kwargs: Any) -> Callable[[Any], None]:
        def build(x: Any) -> None:
            for _ in range(2):
                layers.dense(x, 4, **kwargs)

        return build

    def in_scope(scope: Any, build: Callable[[Any], Any], **kwargs: Any) -> Callable[[Any], None]:
        def run(x: Any) -> None:
            with v1.variable_scope(scope, **kwargs):
                build(x)

        return run

    def after(*builds: Callable[[Any], Any]) -> Callable[[Any], None]:
        def run(x: Any) -> None:
            for build in builds:
                build(x)

        return run

    def shared(**kwargs: Any) -> Callable[[Any], None]:
        def build(x: Any) -> None:
            layer = layers.Dense(4, **kwargs)
            layer(layer(x))

        return build

    l2 = s.tf.nn.l2_loss
    yield "default", case(twice())
    yield "same_name", case(twice(name="a"))
    yield "same_name_reused", case(twice(name="a", reuse=v1.AUTO_REUSE))
    yield "no_name_reused", case(twice(reuse=v1.AUTO_REUSE))
    yield "reuse_of_nothing", case(twice(name="a", reuse=True))
    yield "name_below_a_scope", case(in_scope("s", twice(name="a/b", reuse=v1.AUTO_REUSE)))
    yield "scope_again", case(after(in_scope("s", twice()), in_scope("s", twice(), reuse=True)))
    yield "scope_again_not_reused", case(after(in_scope("s", twice()), in_scope("s", twice())))
    yield "scope_auto", case(in_scope("s", in_scope("t", twice()), reuse=v1.AUTO_REUSE))
    yield (
        "default_scope_after_a_name",
        case(after(twice(name="dense", reuse=v1.AUTO_REUSE), twice())),
    )
    yield "class", case(shared())
    yield "class_with_a_name", case(after(shared(name="a"), shared(name="a")))
    yield "class_in_scopes", case(in_scope("s", after(shared(), in_scope("t", shared()))))
    yield (
        "kinds",
        case(
            lambda x: after(
                lambda x: layers.batch_normalization(x),
                lambda x: layers.conv1d(x[:, :, None], 2, 2),
                lambda x: layers.conv2d(x[:, :, None, None], 2, 1),
                lambda x: layers.conv2d_transpose(x[:, :, None, None], 2, 1),
                lambda x: layers.separable_conv2d(x[:, :, None, None], 2, 1),
                lambda x: layers.flatten(x),
            )(x)
        ),
    )
    yield "not_trainable", case(twice(trainable=False))
    yield "regularizer", case(twice(kernel_regularizer=l2))
    yield "regularizer_once", case(twice(name="a", reuse=v1.AUTO_REUSE, kernel_regularizer=l2))
    yield "regularizer_of_a_class", case(shared(kernel_regularizer=l2, bias_regularizer=l2))
    yield "regularizer_of_the_scope", case(in_scope("s", twice(), regularizer=l2))
    yield "regularizer_of_both", case(in_scope("s", twice(kernel_regularizer=l2), regularizer=l2))
    yield "penalty_of_outputs", case(twice(activity_regularizer=l2))
    yield "too_few_axes", case(lambda x: layers.conv2d(x, 2, 2))
    yield "other_size", case(after(lambda x: [one := layers.Dense(2), one(x), one(x[:, :2])]))
    yield "whole_numbers", case(lambda x: layers.dense(s.tf.cast(x, s.tf.int32), 2))
    yield "padding", case(lambda x: layers.conv1d(x[..., None], 2, 2, padding="sane"))
    yield "data_format", case(lambda x: layers.flatten(x, data_format="channels"))
    yield "kernel_size", case(lambda x: layers.conv2d(x[..., None, None], 2, (1, 2, 3)))


@scenario("layers.replicas", GROUP, ("n2",))
def replicas(s: Setting) -> Iterator[Case]:
    def statistics(training: bool) -> Any:
        def build(b: Built) -> Any:
            x = s.tf.constant(numbers(4, 3)) * (s.number() + 1.0)
            return b.layers.batch_normalization(x, training=training, momentum=0.5)

        return build

    for training in (True, False):
        yield (
            f"statistics_{training}",
            lambda training=training: _in_replicas(s, statistics(training)),
        )


def _in_replicas(s: Setting, build: Callable[[Built], Any]) -> Any:
    """What each replica computes, and the variables after one update."""
    b = Built(s)
    if s.tf.__name__ != "tensorflow":
        from frontends.tf.graph import Graph, VariableStore

        store = VariableStore()

        def replica() -> Any:
            graph = Graph(store)
            with graph.as_default():
                result = build(b)
                graph.run(b.v1.get_collection("update_ops"))
            return result

        results = s.strategy.experimental_local_results(s.strategy.run(replica))
        return list(results), [one.numpy() for one in store.variables.values()]
    with s.tf.Graph().as_default(), s.strategy.scope():

        def replica() -> Any:
            result = build(b)
            with s.tf.control_dependencies(b.v1.get_collection("update_ops")):
                return s.tf.identity(result)

        results = s.strategy.experimental_local_results(s.strategy.run(replica))
        variables = b.v1.global_variables()
        with b.v1.Session() as session:
            session.run(b.v1.global_variables_initializer())
            values = session.run(results)
            return list(values), [session.run(one.read_value()) for one in variables]
