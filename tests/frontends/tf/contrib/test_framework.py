"""Variables by their collections and names."""

from frontends import tf
from frontends.tf.graph import Graph

framework = tf.contrib.framework


def names(found):
    return [one.op.name for one in found]


def test_lists_of_variables():
    with Graph().as_default():
        with tf.variable_scope("a") as scope:
            tf.get_variable("w", [1])
            framework.model_variable("b", [1], trainable=False, device="/cpu:0")
        tf.get_variable("c/w", [1])
        assert names(framework.get_variables()) == ["a/w", "a/b", "c/w"]
        assert names(framework.get_variables(scope)) == ["a/w", "a/b"]
        assert names(framework.get_variables(suffix="w")) == ["a/w", "c/w"]
        assert names(framework.get_trainable_variables("a")) == ["a/w"]
        assert names(framework.get_model_variables()) == ["a/b"]
        assert names(framework.get_variables_to_restore(exclude=["a"])) == ["c/w"]
        assert names(framework.get_variables_to_restore(["a"], ["a/b"])) == ["a/w"]
        every = tf.global_variables()
        assert names(framework.filter_variables(every, ["w$"], ["^c"])) == ["a/w"]
        assert names(framework.filter_variables(every, ["w"], reg_search=False)) == []


def test_former_names():
    assert framework.nest is tf.nest
    assert framework.list_variables is tf.train.list_variables
    assert tf.contrib.slim.conv2d is tf.contrib.layers.conv2d
    assert tf.contrib.slim.arg_scope is framework.arg_scope
    assert tf.contrib.rnn.GRUCell is tf.nn.rnn_cell.GRUCell
    assert tf.contrib.tpu.TPUEstimator is tf.estimator.tpu.TPUEstimator
    assert tf.contrib.estimator.add_metrics is tf.estimator.add_metrics
    assert tf.contrib.cluster_resolver.TPUClusterResolver
