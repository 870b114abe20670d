"""What a model function says that a model for serving gives: `export_outputs` of an `EstimatorSpec`."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp

from frontends.tf.dtypes import as_dtype
from frontends.tf.graph import Operation
from frontends.tf.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_ONE_TEXT = (
    "{kind} signatures can only accept a single tensor input of type tf.string. Please check to make sure that you have "
    "structured the serving_input_receiver_fn so that it creates a single string placeholder. Received: {names}"
)


class SignatureDef(NamedTuple):
    """A signature: tensors by name, and the kind of request that it answers.

    Source: `tf.compat.v1.SignatureDef`.
    """

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    method_name: str


class ExportOutput:
    """What a signature gives; a base.

    Source: `tf.estimator.export.ExportOutput`.
    """

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """Makes the signature for the tensors that a receiver takes.

        Args:
            receiver_tensors: by name.

        Raises:
            ValueError: it cannot be served from these tensors.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method as_signature_def. Use tf.estimator.export.PredictOutput."
        )


class PredictOutput(ExportOutput):
    """Predictions by name.

    Source: `tf.estimator.export.PredictOutput`.
    """

    def __init__(self, outputs: Any) -> None:
        """Takes a tensor, which is named `output`, or a dict of them.

        Raises:
            ValueError: a name is no text, or a value is no tensor.
        """
        self.outputs = _named(outputs, "output", "Prediction")

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """See `ExportOutput.as_signature_def`."""
        if not receiver_tensors or not self.outputs:
            raise ValueError("Prediction `inputs` and `outputs` cannot be None or empty.")
        return SignatureDef(dict(receiver_tensors), self.outputs, "Predict")


class ClassificationOutput(ExportOutput):
    """Scores of classes, their names, or both.

    Source: `tf.estimator.export.ClassificationOutput`.
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        """Takes the parts.

        Args:
            scores: floats, with a row for each row of the features.
            classes: texts.

        Raises:
            ValueError: there is neither, or one is of another dtype.
        """
        if scores is not None and not _is_floating(scores):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (
            _is_tensor(classes) and as_dtype(classes.dtype).name == "string"
        ):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError(
                "Cannot create a ClassificationOutput with empty arguments. At least one of `scores` and `classes` must be "
                "defined."
            )
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """See `ExportOutput.as_signature_def`."""
        outputs = {"classes": self.classes, "scores": self.scores}
        return SignatureDef(
            {"inputs": _only_text(receiver_tensors, "Classification")},
            {name: one for name, one in outputs.items() if one is not None},
            "Classify",
        )


class RegressionOutput(ExportOutput):
    """Numbers.

    Source: `tf.estimator.export.RegressionOutput`.
    """

    def __init__(self, value: Any) -> None:
        """Takes floats, with a row for each row of the features.

        Raises:
            ValueError: they are of another dtype.
        """
        if not _is_floating(value):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """See `ExportOutput.as_signature_def`."""
        inputs = {"inputs": _only_text(receiver_tensors, "Regression")}
        return SignatureDef(inputs, {"outputs": self.value}, "Regress")


class EvalOutput(ExportOutput):
    """What an evaluation gives: a loss, predictions and metrics.

    What differs here: only signatures of predictions are exported, so this is made, and never written.

    Source: `tf.estimator.export.EvalOutput`.
    """

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        """Takes the parts.

        Args:
            loss: a tensor, or a dict of them.
            predictions: likewise.
            metrics: pairs of a value and an update, by name; or one pair.

        Raises:
            ValueError: a name is no text, or a value is no tensor.
        """
        self.loss = None if loss is None else _prefixed(_named(loss, "loss", "loss"), "loss")
        self.predictions = (
            None
            if predictions is None
            else _prefixed(_named(predictions, "predictions", "predictions"), "predictions")
        )
        self.metrics = None if metrics is None else _metric_tensors(metrics)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """See `ExportOutput.as_signature_def`."""
        outputs = {
            name: tensor
            for some in (self.loss, self.predictions, self.metrics)
            for name, tensor in (some or {}).items()
        }
        return SignatureDef(dict(receiver_tensors), outputs, "Eval")


def outputs_of(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """Returns what is exported, by the name of its signature: by default the predictions.

    Args:
        export_outputs: of an `EstimatorSpec`.
        predictions: likewise.

    Raises:
        TypeError: one is no `ExportOutput`.
        ValueError: there are several, and none is the default.
    """
    given = export_outputs
    if given is None:
        given = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    if not isinstance(given, Mapping):
        raise TypeError(f"`export_outputs` must be dict, received: {given}.")
    found: dict[Any, ExportOutput] = dict(given)
    if not all(isinstance(one, ExportOutput) for one in found.values()):
        raise TypeError(
            f"Values in `export_outputs` must be ExportOutput objects, received: {found}."
        )
    if len(found) == 1:
        found.setdefault(DEFAULT_SERVING_SIGNATURE_DEF_KEY, next(iter(found.values())))
    elif DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found:
        raise ValueError(
            f"Multiple `export_outputs` were provided, {sorted(map(str, found))}, but none of them is the default. Name one "
            "tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return found


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _is_floating(value: Any) -> bool:
    return _is_tensor(value) and as_dtype(value.dtype).is_floating


def _named(outputs: Any, default: str, label: str) -> dict[str, Any]:
    """Makes a dict of one tensor; checks names, which may be tuples, and tensors."""
    found: dict[str, Any] = {}
    for key, value in outputs.items() if isinstance(outputs, Mapping) else ((default, outputs),):
        name = "/".join(key) if isinstance(key, tuple) else key
        if not isinstance(name, str):
            raise ValueError(f"{label} output key must be a string; got {name}.")
        if not _is_tensor(value):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
        found[name] = value
    return found


def _prefixed(outputs: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        name if name.startswith(prefix) else f"{prefix}/{name}": one
        for name, one in outputs.items()
    }


def _metric_tensors(metrics: Any) -> dict[str, Any]:
    pairs: Mapping[Any, Any] = metrics if isinstance(metrics, Mapping) else {"metrics": metrics}
    found: dict[str, Any] = {}
    for key, pair in pairs.items():
        result: Callable[[], Any] | None = getattr(pair, "result", None)
        value, update = pair if result is None else (result(), jnp.zeros(0))
        (name,) = _prefixed(_named({key: value}, "metrics", "metrics"), "metrics")
        if isinstance(update, Operation):
            update = jnp.zeros(0)
        found |= {f"{name}/value": value, f"{name}/update_op": update}
    return found


def _only_text(receiver_tensors: Mapping[str, Any], kind: str) -> Any:
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or as_dtype(tensors[0].dtype).name != "string":
        raise ValueError(_ONE_TEXT.format(kind=kind, names=", ".join(receiver_tensors)))
    return tensors[0]
