"""First values from a checkpoint of another model."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.models import data, linear

v1 = tf.compat.v1


@pytest.fixture
def trained(tmp_path):
    estimator = tf.estimator.Estimator(linear, tmp_path / "first", params={"rate": 0.1})
    return estimator.train(data())


def test_checkpoints_of_estimators_have_the_names_of_variables(trained):
    names = dict(tf.train.list_variables(trained.model_dir))
    assert names == {"dense/bias": [1], "dense/kernel": [1, 1], "global_step": []}
    reader = v1.train.NewCheckpointReader(trained.latest_checkpoint())
    assert reader.has_tensor("dense/kernel")
    found = tf.train.load_variable(trained.model_dir, "dense/kernel")
    assert found == trained.get_variable_value("dense/kernel") != 1


def starting(map_of):
    """Makes a model function whose variables start with what `map_of` says, and that trains nothing."""

    def model_fn(features, labels, mode, params):
        with tf.variable_scope("new"):
            kernel = tf.get_variable("dense/kernel", [1, 1])
            tf.get_variable("dense/bias", [1])
        tf.train.init_from_checkpoint(params["from"], map_of(kernel))
        step = tf.train.get_global_step()
        loss = tf.reduce_sum(features)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))

    return model_fn


@pytest.mark.parametrize(
    "map_of",
    [
        lambda kernel: {"dense/": "new/dense/"},
        lambda kernel: {"dense/kernel": kernel, "dense/bias": "new/dense/bias"},
        lambda kernel: [("/", "new/")],
    ],
)
def test_variables_start_with_values_of_a_checkpoint(trained, tmp_path, map_of):
    params = {"from": trained.latest_checkpoint()}
    new = tf.estimator.Estimator(starting(map_of), tmp_path / "new", params=params)
    new.train(data())
    for name in ("dense/kernel", "dense/bias"):
        found = new.get_variable_value(f"new/{name}")
        assert np.array_equal(found, trained.get_variable_value(name))


@pytest.mark.parametrize(
    ("map_of", "message"),
    [
        (lambda kernel: {"other": kernel}, "Tensor other"),
        (lambda kernel: {"dense/bias": kernel}, "doesn't match with shape"),
        (lambda kernel: {"dense/kernel": "absent"}, "make the variable absent first"),
    ],
)
def test_what_does_not_fit_is_an_error(trained, tmp_path, map_of, message):
    params = {"from": trained.latest_checkpoint()}
    new = tf.estimator.Estimator(starting(map_of), tmp_path / "new", params=params)
    with pytest.raises(ValueError, match=message):
        new.train(data())


def test_outside_of_a_model_function_values_are_assigned_at_once(trained):
    variable = tf.Variable([[0.0]])
    v1.train.init_from_checkpoint(trained.model_dir, {"dense/kernel": variable})
    assert variable.numpy() == trained.get_variable_value("dense/kernel")
