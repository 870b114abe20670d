"""What `train_and_evaluate` trains and evaluates on."""

from types import SimpleNamespace

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


def test_parts_of_another_kind_are_errors():
    with pytest.raises(TypeError, match="must be SessionRunHook instances, given: 'hook'"):
        tf.estimator.TrainSpec(dict, hooks=["hook"])
    with pytest.raises(TypeError, match="`name` must be string, given: 3"):
        tf.estimator.EvalSpec(dict, name=3)
    with pytest.raises(TypeError, match="`exporters` must be exporters, found 'exporter'"):
        tf.estimator.EvalSpec(dict, exporters=["exporter"])


def test_one_exporter_is_a_list():
    exporter = SimpleNamespace(export=print, name="a")
    assert tf.estimator.EvalSpec(dict, exporters=exporter).exporters == (exporter,)
    assert tf.estimator.EvalSpec(dict).exporters == ()


def test_exporters_have_names_of_their_own():
    exporters = [SimpleNamespace(export=print, name="a") for _ in range(2)]
    with pytest.raises(ValueError, match=r"unique names\..*\['a', 'a'\]"):
        tf.estimator.EvalSpec(dict, exporters=exporters)
