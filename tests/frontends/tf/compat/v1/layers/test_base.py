"""Names and variables of layers; what TensorFlow names and adds is recorded in tests/golden/scenarios/layers.py."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1
X = np.ones((2, 4), np.float32)


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as made:
        yield made


class Scale(v1.layers.Layer):
    """A layer as users write them."""

    def build(self, input_shape):
        self.factor = self.add_variable("factor", [input_shape[-1]], initializer="ones")
        self.calls = self.add_weight("calls", [], tf.int32, "zeros", trainable=False)

    def call(self, inputs, times=1.0):
        self.add_update(self.calls.assign_add(1))
        return inputs * self.factor * times


def test_a_layer_of_a_user():
    layer = Scale(name="own")
    with pytest.raises(ValueError, match='because the layer "own" has not been used yet'):
        _ = layer.scope_name
    with v1.variable_scope("net"):
        result = layer(X, times=2.0)
    assert result.tolist() == [[2] * 4] * 2
    assert (layer.name, layer.scope_name, layer.dtype) == ("own", "net/own", tf.float32)
    assert [one.name for one in layer.weights] == ["net/own/factor:0", "net/own/calls:0"]
    assert [one.name for one in layer.trainable_variables] == ["net/own/factor:0"]
    assert [one.name for one in layer.non_trainable_weights] == ["net/own/calls:0"]
    assert len(layer.updates) == len(v1.get_collection(v1.GraphKeys.UPDATE_OPS)) == 1


@pytest.mark.parametrize(
    "layer",
    [
        lambda x: v1.layers.dense(x, 2, name="own"),
        lambda x: v1.layers.conv1d(x, 2, 1, name="own"),
        lambda x: v1.layers.dropout(x, name="own"),
        lambda x: v1.layers.flatten(x, name="own"),
        v1.layers.Dense(2, name="own"),
    ],
)
def test_a_dict_is_no_input_of_a_layer_of_one_tensor(layer):
    with pytest.raises(ValueError, match=r'"own" .*\[\'feature\'\].*TensorServingInputReceiver'):
        layer({"feature": X})


def test_a_layer_without_a_name_is_called_after_its_class():
    layer = v1.layers.Conv2DTranspose(2, 3)
    assert layer.name == "conv2d_transpose"
    layer(np.ones((1, 3, 3, 1), np.float32))
    v1.layers.Conv2DTranspose(2, 3)(np.ones((1, 3, 3, 1), np.float32))
    assert layer.scope_name == "conv2d_transpose"
    assert v1.trainable_variables()[-1].name == "conv2d_transpose_1/bias:0"


def test_a_layer_that_outlives_a_graph_finds_its_variables_again(graph):
    layer = v1.layers.Dense(3, kernel_regularizer=tf.nn.l2_loss)
    first, kernel = layer(X), layer.kernel
    with Graph(graph.store).as_default():
        np.testing.assert_array_equal(layer(X), first)
        assert layer.kernel is kernel
        names = [one.name for one in v1.trainable_variables()]
        assert names == ["dense/kernel:0", "dense/bias:0"]
        assert len(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)) == len(layer.losses) == 1
        v1.layers.dense(X, 3)
        assert v1.trainable_variables()[-1].name == "dense_1/bias:0"


def test_the_scope_says_how_variables_start():
    with v1.variable_scope("s", initializer=v1.ones_initializer()):
        result = v1.layers.dense(X, 2, kernel_initializer=None)
        other = v1.layers.dense(X, 2, kernel_initializer="zeros", bias_initializer="ones")
    assert result.tolist() == [[4, 4], [4, 4]]
    assert other.tolist() == [[1, 1], [1, 1]]


def test_variables_have_the_type_of_the_input():
    layer = v1.layers.Dense(2)
    assert layer(X.astype(np.float16)).dtype == tf.float16
    assert layer.kernel.dtype == tf.float16
    assert v1.layers.Dense(2, dtype=tf.float32)(X.astype(np.float16)).dtype == tf.float32


def test_penalties_of_keras_and_constraints():
    layer = v1.layers.Dense(
        2,
        kernel_initializer="ones",
        kernel_regularizer=tf.keras.regularizers.L2(0.5),
        kernel_constraint="non_neg",
    )
    layer(X)
    assert [float(one) for one in layer.losses] == [4.0]
    assert layer.kernel.constraint(np.float32([-1, 1])).tolist() == [0, 1]


def test_penalties_of_outputs_leave_out_padding():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    rows = tf.data.Dataset.from_tensor_slices(np.ones((3, 2), np.float32)).batch(4)
    (batch,) = strategy.experimental_distribute_dataset(rows)

    def replica(x):
        with Graph().as_default():
            v1.layers.flatten(x)
            layer = v1.layers.Flatten()
            layer.activity_regularizer = tf.reduce_sum
            layer(x * 3.0)
            return v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)[0]

    assert [float(one) for one in strategy.run(replica, args=(batch,)).values] == [6, 6]


def test_variables_that_are_read_together_are_not_trained():
    layer = v1.layers.Layer()
    with pytest.raises(ValueError, match="w has trainable=True"):
        layer.add_weight(
            "w", [2], trainable=True, synchronization=tf.VariableSynchronization.ON_READ
        )
