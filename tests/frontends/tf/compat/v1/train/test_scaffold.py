"""What model functions hand to an `EstimatorSpec` is taken, and what needs a session says what to write."""

import pytest

from frontends import tf


def test_a_model_function_may_have_a_scaffold(tmp_path):
    def model_fn(features, labels, mode):
        variable = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        saver = tf.train.Saver(tf.global_variables(), max_to_keep=3, sharded=True)
        scaffold = tf.train.Scaffold(saver=saver, local_init_op=tf.no_op())
        assert scaffold.saver is saver
        step = tf.train.get_global_step()
        train_op = tf.group(variable.assign_add(1.0), step.assign_add(1))
        return tf.estimator.EstimatorSpec(
            mode, loss=variable + 0.0, train_op=train_op, scaffold=scaffold
        )

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: tf.data.Dataset.from_tensors(1.0).repeat(3))
    assert estimator.get_variable_value("v") == 3


def test_what_needs_a_session():
    saver = tf.compat.v1.train.Saver()
    with pytest.raises(NotImplementedError, match=r"tf\.train\.Checkpoint\(model=model\)\.save"):
        saver.save(None, "/tmp/model", global_step=3)
    with pytest.raises(NotImplementedError, match="init_from_checkpoint"):
        saver.restore(None, "/tmp/model")
    with pytest.raises(NotImplementedError, match="init_from_checkpoint"):
        tf.train.Scaffold(init_fn=lambda scaffold, session: None)
