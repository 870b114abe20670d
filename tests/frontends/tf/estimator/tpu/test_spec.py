"""What the model function of a `TPUEstimator` returns."""

import numpy as np
import pytest

from frontends import tf

Spec = tf.estimator.tpu.TPUEstimatorSpec


def test_a_host_call_runs_with_each_step(tmp_path):
    def model_fn(features, labels, mode):
        step = tf.train.get_global_step()
        loss = tf.reduce_sum(features)

        def host_call(step, loss):
            writer = tf.contrib.summary.create_file_writer(str(tmp_path / "host"))
            with writer.as_default(), tf.contrib.summary.always_record_summaries():
                tf.contrib.summary.scalar("sum", loss[0], step=step[0])
            return tf.contrib.summary.all_summary_ops()

        arguments = {"step": tf.reshape(step, [1]), "loss": tf.reshape(loss, [1])}
        train_op = tf.compat.v1.assign_add(step, 1)
        return Spec(mode, loss=loss, train_op=train_op, host_call=(host_call, arguments))

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "model"))
    rows = np.arange(4, dtype=np.float32)
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices(rows).batch(1))
    (path,) = (tmp_path / "host").iterdir()
    events = list(tf.compat.v1.train.summary_iterator(str(path)))
    found = {
        event.step: value.tensor.float_val[0] for event in events for value in event.summary.value
    }
    assert found == {0: 0, 1: 1, 2: 2, 3: 3}


@pytest.mark.parametrize("given", [len, (len,), ([], len), (len, 3)])
def test_what_is_no_call(given):
    with pytest.raises(ValueError, match=r"eval_metrics=\(function, \[labels, logits\]\)"):
        Spec("eval", loss=1.0, eval_metrics=given).as_estimator_spec()
