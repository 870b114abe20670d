"""What the heads of classes and of numbers have models for serving give."""

from collections.abc import Mapping
from typing import Any

from frontends.tf.estimator.export.outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from frontends.tf.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

PREDICT = "predict"


def of_classes(predictions: Mapping[str, Any], names: Any) -> dict[str, ExportOutput]:
    """Gives probabilities with the names of classes; and all predictions.

    Args:
        predictions: by name.
        names: of the classes, for each row.
    """
    scores = ClassificationOutput(predictions["probabilities"], names)
    return {
        DEFAULT_SERVING_SIGNATURE_DEF_KEY: scores,
        "classification": scores,
        PREDICT: PredictOutput(predictions),
    }


def of_numbers(predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
    """Gives the numbers that are predicted; and all predictions."""
    numbers = RegressionOutput(predictions["predictions"])
    return {
        DEFAULT_SERVING_SIGNATURE_DEF_KEY: numbers,
        "regression": numbers,
        PREDICT: PredictOutput(predictions),
    }
