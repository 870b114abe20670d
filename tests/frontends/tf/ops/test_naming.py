"""Names of the tensors of a model function."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def test_tensors_have_the_names_that_their_operations_are_given():
    with Graph().as_default() as graph:
        probabilities = tf.nn.softmax([1.0, 2.0], name="probabilities")
        with tf.name_scope("layer"):
            first = tf.identity(probabilities, "x")
        with tf.name_scope("layer"):
            second = tf.identity(probabilities, "x")
        values, indices = tf.math.top_k(probabilities, 1, name="best")
        tf.cond(tf.constant(True), lambda: tf.identity(first, name="inside"), lambda: second)
    assert graph.get_tensor_by_name("probabilities:0") is probabilities
    assert graph.get_tensor_by_name("layer/x:0") is first
    assert graph.get_tensor_by_name("layer_1/x:0") is second
    assert graph.get_tensor_by_name("best:0") is values
    assert graph.get_tensor_by_name("best:1") is indices
    assert graph.get_operation_by_name("best").name == "best"
    with pytest.raises(KeyError, match="does not exist"):
        graph.get_tensor_by_name("other:0")


def test_other_tensors_have_tensorflows_names():
    with Graph().as_default():
        x = tf.reduce_mean(tf.constant([1.0]))
        found = x.name, x.op.name, tf.reduce_mean([2.0]).name, tf.cast(x, tf.float32).name
        assert found == ("Mean:0", "Mean", "Mean_1:0", "Mean:0")
        assert (x + 1).name == "Tensor:0"
        assert tf.Variable(1.0, name="w").op.name == "w"
        assert v1.layers.dense(tf.ones([1, 1]), 1, tf.nn.relu, name="fc").name == "fc/Relu:0"
    assert not hasattr(x, "name")
    with pytest.raises(AttributeError, match="only tensors of a model function"):
        _ = x.op


def test_hooks_fetch_what_has_a_name(tmp_path):
    found = []

    class Hook(tf.estimator.SessionRunHook):
        def begin(self):
            self.loss = v1.get_collection("mine")[0]
            self.doubled = v1.get_default_graph().get_tensor_by_name("Mul:0")

        def before_run(self, run_context):
            return tf.estimator.SessionRunArgs(["scope/doubled:0", self.loss, self.doubled])

        def after_run(self, run_context, run_values):
            found.append(run_values.results)

    def model_fn(features, labels, mode):
        with tf.name_scope("scope"):
            tf.add(features, features, name="doubled")
        loss = tf.reduce_sum(tf.multiply(features, 3.0))
        v1.add_to_collection("mine", loss + 1)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.no_op())

    data = tf.data.Dataset.from_tensors(np.array([1, 2], np.float32)).repeat(2)
    tf.estimator.Estimator(model_fn, str(tmp_path)).train(lambda: data, hooks=[Hook()])
    assert len(found) == 2
    for doubled, loss, tripled in found:
        assert doubled.tolist() == [2, 4]
        assert loss == 10
        assert tripled.tolist() == [3, 6]
