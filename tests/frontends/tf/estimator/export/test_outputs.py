"""What a signature gives: names, and what cannot be served."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator.export.outputs import outputs_of

export = tf.estimator.export
ONE = tf.ones([2])
TEXT = np.array(["a", "b"])


def test_names_of_outputs():
    assert export.PredictOutput(ONE).outputs == {"output": ONE}
    assert list(export.PredictOutput({("head", "a"): ONE, "b": ONE}).outputs) == ["head/a", "b"]
    found = export.EvalOutput(ONE, {"y": ONE}, {"mae": (ONE, ONE)})
    assert list(found.as_signature_def({"x": ONE}).outputs) == [
        *("loss", "predictions/y", "metrics/mae/value", "metrics/mae/update_op"),
    ]


def test_requests_of_one_text():
    receiver = {"examples": TEXT}
    found = export.ClassificationOutput(ONE, TEXT).as_signature_def(receiver)
    assert (list(found.inputs), list(found.outputs)) == (["inputs"], ["classes", "scores"])
    found = export.RegressionOutput(ONE).as_signature_def(receiver)
    assert (list(found.inputs), list(found.outputs)) == (["inputs"], ["outputs"])
    for output in (export.ClassificationOutput(ONE), export.RegressionOutput(ONE)):
        for wrong in ({"x": ONE}, {"a": TEXT, "b": TEXT}):
            with pytest.raises(ValueError, match="can only accept a single tensor input"):
                output.as_signature_def(wrong)
    with pytest.raises(ValueError, match="cannot be None or empty"):
        export.PredictOutput({}).as_signature_def(receiver)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: export.PredictOutput({1: ONE}), "key must be a string; got 1"),
        (lambda: export.PredictOutput({"a": 1}), "value must be a Tensor; got 1"),
        (lambda: export.ClassificationOutput(), "At least one of"),
        (lambda: export.ClassificationOutput(scores=tf.ones([2], tf.int32)), "must be a float32"),
        (lambda: export.ClassificationOutput(classes=ONE), "must be a string Tensor"),
        (lambda: export.RegressionOutput(TEXT), "must be a float32 Tensor"),
    ],
)
def test_parts_are_checked(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_predictions_are_the_default():
    assert outputs_of(None, {"y": ONE})["serving_default"].outputs == {"y": ONE}
    with pytest.raises(TypeError, match="must be dict"):
        outputs_of([], ONE)
    with pytest.raises(TypeError, match="must be ExportOutput objects"):
        outputs_of({"a": ONE}, ONE)


def test_a_base_serves_nothing():
    with pytest.raises(NotImplementedError, match=r"Use tf\.estimator\.export"):
        export.ExportOutput().as_signature_def({})
