"""`tf.Module`: what it finds, names, trains and saves. The values are TensorFlow's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import nn

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([inputs, outputs]), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b)


class Sequence(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.layers = [Dense(3, 3), Dense(3, 2, name="last")]
        self.table = {"b": tf.Variable(2.0), "a": (tf.Variable(1.0, trainable=False),)}
        self.size = 4
        self.again = self.layers[0]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.table["b"]


class Flexible(tf.Module):
    @tf.Module.with_name_scope
    def __call__(self, x):
        if not hasattr(self, "w"):
            self.w = tf.Variable(tf.ones([x.shape[-1], 3]), name="w")
        return x @ self.w


def test_names():
    class MyMLPModel2D(tf.Module):
        pass

    assert MyMLPModel2D().name == "my_mlp_model2_d"
    assert tf.Module().name == "module"
    assert tf.Module("mine").name == "mine"
    with pytest.raises(ValueError, match="'3 words' is not a valid module name"):
        tf.Module("3 words")


def test_variables_and_submodules_come_in_tensorflows_order():
    model = Sequence()
    assert model.submodules == (model.again, model.layers[1])
    shapes = [tuple(v.shape) for v in model.variables]
    assert shapes == [(), (), (3,), (3, 3), (2,), (3, 2)]
    assert [float(v) for v in model.variables[:2]] == [1.0, 2.0]
    assert model.non_trainable_variables == (model.variables[0],)
    assert len(model.trainable_variables) == 5
    paths = dict(model._flatten(predicate=lambda leaf: isinstance(leaf, Dense), with_path=True))
    assert list(paths) == [("again",), ("layers", 0), ("layers", 1)]
    assert list(model._flatten(recursive=False, predicate=lambda leaf: leaf == 4)) == [4]


def test_name_scopes():
    module = Flexible()
    module(tf.ones([1, 2]))
    assert module.w.name == "flexible/w:0"
    with tf.name_scope("outer"):
        module = Flexible(name="inner")
    assert module.name_scope.name == "outer/inner/"
    module(tf.ones([1, 2]))
    assert module.w.name == "outer/inner/w:0"
    assert tf.Variable(1.0, name="v").name == "v:0", "no scope is left"


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_module_trains_in_a_step(replicas, compiled):
    x = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
    strategy = mirrored(replicas)
    with strategy.scope():
        model = Sequence()
        optimizer = keras.optimizers.SGD(0.01)

    def step(batch):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.reduce_sum(model(batch), -1))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    def train(batch):
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    run = tf.function(train) if compiled else train
    (batch,) = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensors(x).unbatch().batch(4)
    )
    losses = [float(run(batch)) for _ in range(2)]

    def loss(w0, b0, w1, b1, scale):
        return jnp.mean(jnp.sum(nn.relu(nn.relu(x @ w0 + b0) @ w1 + b1) * scale, -1))

    start = [jnp.ones((3, 3)), jnp.zeros(3), jnp.ones((3, 2)), jnp.zeros(2), jnp.float32(2)]
    first, slopes = jax.value_and_grad(loss, argnums=tuple(range(5)))(*start)
    second = loss(*(value - 0.01 * slope for value, slope in zip(start, slopes, strict=True)))
    np.testing.assert_allclose(losses, [first, second], rtol=1e-5)


def test_a_bare_module_and_variables_made_late_are_found_by_a_step():
    module = tf.Module()
    module.count = tf.Variable(0)
    flexible = Flexible()
    flexible(tf.ones([1, 2]))

    @tf.function
    def step(x):
        module.count.assign_add(1)
        return flexible(x)

    np.testing.assert_array_equal(step(tf.ones([1, 2])), [[2, 2, 2]])
    flexible.w.assign(flexible.w * 2)
    np.testing.assert_array_equal(step(tf.ones([1, 2])), [[4, 4, 4]])
    assert module.count.numpy() == 2


def test_a_module_is_a_method_of_tf_function():
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.total = tf.Variable(0.0)

        @tf.function
        def add(self, x):
            return self.total.assign_add(x)

    counter = Counter()
    counter.add(2.0)
    assert float(counter.add(3.0)) == 5


def test_a_checkpoint_keeps_what_is_in_lists_and_dicts(tmp_path):
    model = Sequence()
    model.table["b"].assign(7.0)
    model.layers[1].w.assign_add(tf.ones([3, 2]))
    path = tf.train.Checkpoint(model=model).save(tmp_path / "ckpt")
    names = dict(tf.train.list_variables(path))
    assert names["model/table/b/.ATTRIBUTES/VARIABLE_VALUE"] == []
    assert names["model/layers/1/w/.ATTRIBUTES/VARIABLE_VALUE"] == [3, 2]
    other = Sequence()
    tf.train.Checkpoint(model=other).restore(path).assert_consumed()
    assert other.table["b"].numpy() == 7
    np.testing.assert_array_equal(other.layers[1].w, 2 * np.ones((3, 2)))


def test_a_checkpoint_restores_what_a_module_makes_later(tmp_path):
    module = Flexible()
    module(tf.ones([1, 2]))
    module.w.assign(5 * tf.ones([2, 3]))
    path = tf.train.Checkpoint(module).write(tmp_path / "ckpt")
    other = Flexible()
    checkpoint = tf.train.Checkpoint(other)
    checkpoint.read(path)
    other(tf.ones([1, 2]))
    np.testing.assert_array_equal(other.w, 5 * np.ones((2, 3)))


def test_layers_of_keras_in_a_module():
    class Mixed(tf.Module):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)
            self.scale = tf.Variable(3.0)

        def __call__(self, x):
            return self.dense(x) * self.scale

    module = Mixed()
    x = tf.ones([4, 3])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(module(x))
    assert module.submodules == (module.dense,)
    assert [tuple(v.shape) for v in module.trainable_variables] == [(), (3, 2), (2,)]
    gradients = tape.gradient(loss, module.trainable_variables)
    np.testing.assert_array_equal(gradients[2], [12, 12])


def test_a_module_in_a_layer_and_a_model_of_keras():
    class Layer(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.block = Dense(3, 2)

        def call(self, x):
            return self.block(x)

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer = Layer()
            self.scale = tf.Module()
            self.scale.value = tf.Variable(2.0)

        def call(self, x):
            return self.layer(x) * self.scale.value

    with mirrored(2).scope():
        model = Model()
        model.compile("sgd", "mse")
    x = np.ones((4, 3), np.float32)
    model.fit(x, np.zeros((4, 2)), verbose=0)
    assert len(model.layer.trainable_weights) == 2
    assert len(model.trainable_weights) == 3
    assert np.all(np.asarray(model.layer.block.w) < 1)
