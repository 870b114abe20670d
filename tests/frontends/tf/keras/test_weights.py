"""`tf.Variable` in layers, models and metrics of Keras, and trained by its optimizers."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.keras import _weights
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras
X = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)


class Scale(keras.layers.Layer):
    """A layer as TensorFlow's guides write it, with a variable in each of the usual places."""

    def __init__(self):
        super().__init__()
        self.scale = tf.Variable([1.0, 2.0], name="scale")
        self.others = [tf.Variable(1.0), tf.Variable(2.0, trainable=False)]
        self.calls = tf.Variable(0, trainable=False)
        self.late = None

    def call(self, inputs):
        if self.late is None:
            self.late = tf.Variable(tf.ones(2), name="late")
        self.calls.assign_add(1)
        return inputs * self.scale * self.others[0] + self.late * self.others[1]


class Made(keras.layers.Layer):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def build(self, input_shape):
        start = np.ones((input_shape[-1], 1), np.float32)
        if self.kind == "tf.Variable":
            self.kernel = tf.Variable(start)
        else:
            self.kernel = self.add_weight(name="kernel", shape=start.shape, initializer="ones")

    def call(self, inputs):
        return tf.matmul(inputs, self.kernel)


def test_a_variable_is_a_weight_of_its_layer():
    layer = Scale()
    assert layer.weights[0].name == "scale"
    assert len(layer.trainable_weights) == 2
    assert len(layer.non_trainable_weights) == 2
    layer(X)
    assert [len(layer.trainable_weights), len(layer.weights)] == [3, 5], (
        "one that is made late, too"
    )
    assert isinstance(layer.scale, tf.Variable)
    layer.scale.assign([3.0, 4.0])
    np.testing.assert_array_equal(layer.trainable_weights[0].numpy(), [3, 4])
    layer.trainable_weights[0].assign([5.0, 6.0])
    np.testing.assert_array_equal(layer.scale.numpy(), [5, 6])
    assert layer.calls.numpy() == 1
    layer.set_weights([2 * weight for weight in layer.get_weights()])
    np.testing.assert_array_equal(layer.scale.numpy(), [10, 12])
    layer.trainable = False
    assert not layer.trainable_weights
    assert layer.scale.trainable


def train(strategy, kind, optimizer, steps=3):
    with strategy.scope():
        model = keras.Sequential([Made(kind)])
        optimizer = optimizer()

    @tf.function
    def step(batch):
        def replica(rows):
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss(tf.square(model(rows))[:, 0])
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        losses = strategy.run(replica, args=(batch,))
        return strategy.reduce("SUM", losses, axis=None)

    dataset = tf.data.Dataset.from_tensor_slices(X).batch(8)
    (batch,) = strategy.experimental_distribute_dataset(dataset)
    losses = [float(step(batch)) for _ in range(steps)]
    assert step.experimental_get_tracing_count() == 1
    return losses, model


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_a_layer_trains_its_variables_in_a_step(name, replicas):
    def optimizer():
        return getattr(keras.optimizers, name)(0.1)

    expected, _ = train(mirrored(replicas), "add_weight", optimizer)
    losses, model = train(mirrored(replicas), "tf.Variable", optimizer)
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    assert losses[-1] < losses[0]
    assert isinstance(model.layers[0].kernel, tf.Variable)


def test_a_step_may_name_the_layers_variable_itself():
    layer, optimizer = Scale(), keras.optimizers.SGD(1.0)
    layer(X)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(tf.ones((1, 2))))
        (gradient,) = tape.gradient(loss, [layer.scale])
        optimizer.apply_gradients([(gradient, layer.scale)])

    mirrored().run(step)
    np.testing.assert_allclose(layer.scale.numpy(), [1 - 2, 2 - 2])
    assert layer.calls.numpy() == 2


def test_variables_are_saved_with_the_model(tmp_path):
    _, model = train(mirrored(), "tf.Variable", lambda: keras.optimizers.SGD(0.1))
    kernel = model.layers[0].kernel
    before = kernel.numpy()
    model.save_weights(str(tmp_path / "model.weights.h5"))
    kernel.assign(tf.zeros((2, 1)))
    model.load_weights(str(tmp_path / "model.weights.h5"))
    np.testing.assert_array_equal(kernel.numpy(), before)


def test_fit_trains_variables():
    histories = []
    for kind in ("tf.Variable", "add_weight"):
        model = keras.Sequential([Made(kind)])
        model.compile("sgd", "mse")
        fit = model.fit(X, np.zeros((8, 1)), batch_size=4, epochs=2, shuffle=False, verbose=0)
        histories.append([*fit.history["loss"], *model.layers[0].kernel.numpy().ravel()])
    np.testing.assert_allclose(histories[0], histories[1], rtol=1e-6)
    assert histories[0][1] < histories[0][0]


class Total(keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.total = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def update_state(self, values, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(values))

    def result(self):
        return self.total.value()


def test_a_metric_of_variables():
    strategy = mirrored()
    with strategy.scope():
        metric = Total()

    def replica():
        metric.update_state(tf.ones(3))
        return metric.result()

    assert [float(value) for value in strategy.run(replica).values] == [6.0, 6.0]
    assert float(metric.result()) == 6.0
    metric.reset_state()
    assert float(metric.result()) == 0.0


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_optimizers_are_built_for_variables(name):
    variable = tf.Variable([1.0, 2.0])
    optimizer = getattr(keras.optimizers, name)(0.5)
    optimizer.build([variable])
    optimizer.apply_gradients([(tf.ones(2), variable)])
    assert np.all(variable.numpy() < [1, 2])
    assert optimizer.iterations.numpy() == 1


def test_the_number_of_steps_may_be_returned():
    variable, optimizer = tf.Variable(1.0), keras.optimizers.SGD(0.5)
    strategy = mirrored()

    def step():
        optimizer.apply_gradients([(tf.ones(()), variable)])
        return optimizer.iterations

    assert int(tf.function(step)()) == 1
    assert [int(value) for value in strategy.run(step).values] == [2, 2]
    assert int(tf.function(lambda: optimizer.apply_gradients([(tf.ones(()), variable)]))()) == 3


def test_a_weight_never_asks_for_another_value():
    with pytest.raises(AssertionError, match="has a value"):
        _weights._no_value((), "float32")


@pytest.mark.parametrize("replicas", [0, 1, 2])
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_an_optimizer_applies_the_constraint(replicas, optimizer):
    strategy = mirrored(replicas) if replicas else tf.distribute.get_strategy()
    with strategy.scope():
        variable = tf.Variable([1.0, 0.5], constraint=lambda x: tf.clip_by_value(x, 0.0, 1.0))
        trained = getattr(keras.optimizers, optimizer)(10.0)
    assert variable.constraint(tf.constant(3.0)) == 1

    @tf.function
    def step():
        def replica():
            gradient = tf.constant([-1.0, 1.0])
            trained.apply_gradients([(gradient, variable)])

        strategy.run(replica)

    for _ in range(2):
        step()
        assert variable.numpy().tolist() == [1, 0]
