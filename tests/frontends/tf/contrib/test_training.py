"""Hyperparameters, and the operation that trains."""

import copy

import numpy as np
import pytest

from frontends import tf

HParams = tf.contrib.training.HParams


def test_values_keep_their_types():
    params = HParams(rate=0.1, layers=[8, 4], name="a", shuffle=True, optional=None)
    params.parse("rate=1,layers=[16,2],name=b c,layers[1]=3,shuffle=false")
    assert params.values() == {
        **{"rate": 1.0, "layers": [16, 3], "name": "b c"},
        **{"shuffle": False, "optional": None},
    }
    assert isinstance(params.rate, float)
    assert params.override_from_dict({"rate": 2}).rate == 2
    assert copy.deepcopy(params).parse_json('{"name": "d"}').name == "d"
    assert (params.get("rate"), params.get("no", 3), "name" in params) == (2, 3, True)
    params.del_hparam("name")
    assert "name" not in params
    assert params.to_json(sort_keys=True).startswith('{"layers": [16, 3]')


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda params: params.add_hparam("rate", 1.0), "reserved"),
        (lambda params: params.add_hparam("new", []), "cannot be empty"),
        (lambda params: params.set_hparam("rate", [1.0]), "is not a list"),
        (lambda params: params.set_hparam("count", 1.5), "Could not cast"),
        (lambda params: params.parse("unknown=1"), "Unknown hyperparameter"),
        (lambda params: params.parse("count=x"), "Could not parse"),
        (lambda params: params.parse("on=maybe"), "Could not parse"),
        (lambda params: params.parse("count"), "name=value"),
    ],
)
def test_what_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        change(HParams(rate=0.1, count=3, on=True))


def test_the_loss_trains(tmp_path):
    def model_fn(features, labels, mode, params):
        assert isinstance(params, HParams)
        weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
        other = tf.get_variable("v", [], initializer=tf.zeros_initializer(), trainable=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.compat.v1.assign_add(other, 1.0))
        loss = tf.reduce_mean(features) * weight
        train_op = tf.contrib.training.create_train_op(
            loss,
            tf.train.GradientDescentOptimizer(params.rate),
            transform_grads_fn=lambda pairs: [(2 * gradient, one) for gradient, one in pairs],
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path), params=HParams(rate=0.25))
    rows = np.ones(3, np.float32)
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices(rows).batch(1))
    assert [estimator.get_variable_value(name) for name in ("w", "v", "global_step")] == [
        -0.5,
        3,
        3,
    ]


def test_an_unknown_hyperparameter_names_those_there_are():
    params = tf.contrib.training.HParams(rate=0.1, dtype="float32")
    with pytest.raises(AttributeError, match=r"no hyperparameter decay. There are: rate, dtype"):
        params.decay  # noqa: B018
    assert copy.deepcopy(params).dtype == "float32"
