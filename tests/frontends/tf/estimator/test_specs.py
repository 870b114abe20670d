"""What `train_and_evaluate` trains and evaluates on."""

import pytest

from frontends import tf


def test_numbers_out_of_range_are_errors():
    with pytest.raises(ValueError, match="Must specify max_steps > 0, given: 0"):
        tf.estimator.TrainSpec(dict, max_steps=0)
    with pytest.raises(ValueError, match="Must specify steps > 0, given: 0"):
        tf.estimator.EvalSpec(dict, steps=0)
    with pytest.raises(ValueError, match="Must specify throttle_secs >= 0, given: -1"):
        tf.estimator.EvalSpec(dict, throttle_secs=-1)
    with pytest.raises(
        TypeError, match="input_fn must be a function that returns a dataset, given: 3"
    ):
        tf.estimator.TrainSpec(3)


def test_one_exporter_is_a_list():
    exporter = object()
    assert tf.estimator.EvalSpec(dict, exporters=exporter).exporters == (exporter,)
    assert tf.estimator.EvalSpec(dict).exporters == ()
