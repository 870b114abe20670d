"""What model functions hand to an `EstimatorSpec` is taken, and what needs a session says what to write."""

import pytest

from frontends import tf
from frontends.tf.estimator.model_checkpoints import restore_by_name


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


def test_a_saver_swaps_in_averages_where_nothing_is_trained(tmp_path):
    def model_fn(features, labels, mode):
        variable = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        averages, step = tf.train.ExponentialMovingAverage(0.5), tf.train.get_global_step()
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(averages.variables_to_restore()))
        with tf.control_dependencies([variable.assign_add(8.0), step.assign_add(1)]):
            train_op = averages.apply([variable])
        return tf.estimator.EstimatorSpec(
            mode, {"v": features + variable}, variable + 0.0, train_op, scaffold=scaffold
        )

    def input_fn():
        return tf.data.Dataset.from_tensors([0.0])

    start = tf.estimator.Estimator(model_fn, str(tmp_path / "start"))
    start.train(input_fn)
    estimator = tf.estimator.Estimator(
        model_fn, str(tmp_path / "m"), warm_start_from=start.model_dir
    )
    estimator.train(input_fn)
    # It was 8 at the beginning, and so was its average.
    assert estimator.get_variable_value("v") == 16
    assert estimator.get_variable_value("v/ExponentialMovingAverage") == 12
    assert estimator.evaluate(input_fn)["loss"] == 12
    assert next(estimator.predict(input_fn))["v"] == 12
    with pytest.raises(KeyError, match="has no variable 'v/mean', from which"):
        restore_by_name({"v/mean": None}, estimator.latest_checkpoint())
