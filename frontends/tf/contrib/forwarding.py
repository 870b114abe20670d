"""`tf.contrib.estimator.forward_features`: features beside predictions, by which rows are told apart."""

from collections.abc import Iterable, Mapping
from typing import Any

from frontends.tf.estimator import Estimator, EstimatorSpec
from frontends.tf.estimator.export import PredictOutput

_EXPORTED = ("predict", "serving_default")


def forward_features(
    estimator: Estimator,
    keys: str | Iterable[str] | None = None,
    sparse_default_values: object = None,
) -> Estimator:
    """Makes an estimator whose predictions hold features, too, in the same folder.

    Args:
        estimator: any whose predictions are a dict.
        keys: of the features; None means all.
        sparse_default_values: must be None: features are dense here.

    Raises:
        TypeError: the predictions are no dict, or a key is no text.
        ValueError: there is no such feature, or a prediction has its name.

    Source: `tf.contrib.estimator.forward_features`.
    """
    if sparse_default_values is not None:
        raise ValueError("sparse_default_values= is for sparse features: a step gets dense ones.")
    wanted = [keys] if isinstance(keys, str) else None if keys is None else list(keys)
    for key in wanted or ():
        if not isinstance(key, str):
            raise TypeError(f"All items in keys must be texts, got {key!r}.")

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if not spec.predictions:
            return spec
        if not isinstance(spec.predictions, Mapping):
            raise TypeError(
                f"Predictions should be a dict to be able to forward features, got {type(spec.predictions)}."
            )
        forwarded = _chosen(features, wanted, spec.predictions)
        outputs = dict(spec.export_outputs or {})
        for name in _EXPORTED:
            if isinstance(outputs.get(name), PredictOutput):
                outputs[name] = PredictOutput({**outputs[name].outputs, **forwarded})
        return spec._replace(
            predictions={**spec.predictions, **forwarded}, export_outputs=outputs or None
        )

    return Estimator(
        model_fn,
        estimator.model_dir,
        estimator.config,
        warm_start_from=estimator.warm_start_from,
    )


def _chosen(
    features: Mapping[str, Any], keys: Iterable[str] | None, predictions: Mapping[str, Any]
) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for key in sorted(features) if keys is None else keys:
        if key not in features:
            raise ValueError(
                f"keys should be features, but there is no {key}. There are: {', '.join(features)}."
            )
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature {key}, since it exists in predictions as {key}: rename one of them."
            )
        chosen[key] = features[key]
    return chosen
