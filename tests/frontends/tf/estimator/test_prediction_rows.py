"""What `predict` yields of the predictions for a batch."""

import numpy as np
import pytest

from frontends.tf.estimator.prediction_rows import rows_of, selected


def test_keys_choose_predictions_in_the_order_of_the_model_function():
    found = {"a": np.zeros(2), "b": np.ones(2), "c": np.ones(2)}
    assert list(selected(found, None, ["c", "a", "b"])) == ["c", "a", "b"]
    assert list(selected(found, ["b", "c"], ["c", "a", "b"])) == ["c", "b"]
    assert selected(found["b"], None, []) is found["b"]
    with pytest.raises(ValueError, match=r"predict_keys=\['a'\] names .* returns one tensor"):
        selected(found["b"], ["a"], [])


def test_predictions_of_a_batch_have_as_many_rows():
    rows = rows_of({"a": np.arange(2), "b": np.arange(4).reshape(2, 2)})
    assert [(row["a"], row["b"].tolist()) for row in rows] == [(0, [0, 1]), (1, [2, 3])]
    for other in (np.float32(1), np.ones(3)):
        with pytest.raises(ValueError, match=r"should be same, but .*: a \(2,\), b \(3?,?\)"):
            next(rows_of({"a": np.arange(2), "b": other}))
