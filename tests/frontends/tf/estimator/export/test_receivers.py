"""What a signature takes: names, and checks."""

import pytest

from frontends import tf
from frontends.tf.compat.v1.placeholders import Placeholders

export = tf.estimator.export
ONE = tf.ones([2])


def test_one_tensor_has_a_name():
    made = export.ServingInputReceiver(ONE, ONE, {"other": ONE})
    assert made.features == {"feature": ONE}
    assert made.receiver_tensors == {"input": ONE}
    assert made.receiver_tensors_alternatives == {"other": {"input": ONE}}


def test_one_tensor_of_features_may_stay_one():
    made = export.TensorServingInputReceiver(ONE, {"x": ONE})
    assert made.features is ONE
    assert made.receiver_tensors == {"x": ONE}


def test_a_raw_receiver_has_a_placeholder_for_each_feature():
    features = {"x": tf.ones([7, 3]), "n": tf.TensorSpec([7], tf.int32)}
    for rows in (None, 4):
        with Placeholders().as_current() as placeholders:
            made = export.build_raw_serving_input_receiver_fn(features, rows)()
        assert made.features == made.receiver_tensors
        assert [(one.shape, one.dtype) for one in placeholders.made] == [
            ((rows, 3), "float32"),
            ((rows,), "int32"),
        ]


def test_a_parsing_receiver_takes_examples():
    spec = {"x": tf.io.FixedLenFeature([3], tf.float32)}
    with Placeholders().as_current() as placeholders:
        made = export.build_parsing_serving_input_receiver_fn(spec)()
    assert list(made.receiver_tensors) == ["examples"]
    assert made.features["x"].shape == (2, 3)
    assert [(one.shape, one.dtype) for one in placeholders.made] == [
        ((None,), "string"),
        ((None, 3), "float32"),
    ]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: export.ServingInputReceiver(None, ONE), "features must be defined"),
        (lambda: export.ServingInputReceiver(ONE, None), "receiver_tensors must be defined"),
        (lambda: export.ServingInputReceiver({"a": 1}, ONE), "feature a must be a Tensor"),
        (lambda: export.ServingInputReceiver({1.5: ONE}, ONE), "must be strings or ints: 1.5"),
        (lambda: export.ServingInputReceiver(ONE, {1: ONE}), "keys must be strings: 1"),
        (lambda: export.ServingInputReceiver(ONE, ONE, [ONE]), "must be a dict"),
        (lambda: export.TensorServingInputReceiver(None, ONE), "features must be defined"),
        (lambda: export.TensorServingInputReceiver({"a": ONE}, ONE), "feature must be a Tensor"),
    ],
)
def test_parts_are_checked(make, words):
    with pytest.raises(ValueError, match=words):
        make()
