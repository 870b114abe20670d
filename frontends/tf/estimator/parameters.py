"""What a model function takes beside the features."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from frontends.tf.estimator.estimator_spec import EstimatorSpec

_PARAMETERS = ("labels", "mode", "params", "config")


def check_parameters(model_fn: Callable[..., EstimatorSpec], params: Any) -> None:
    """Checks what a model function takes beside the features.

    Args:
        model_fn: the function.
        params: of the estimator; None if it has none.

    Raises:
        ValueError: the function does not take them, or takes something else.
    """
    parameters = inspect.signature(model_fn).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    if params is not None and "params" not in parameters:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator."
        )
    others = list(parameters) if "features" in parameters else list(parameters)[1:]
    strange = [
        name
        for name in others
        if name not in ("features", *_PARAMETERS)
        and parameters[name].default is inspect.Parameter.empty
    ]
    if strange:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {strange}. Expected are features and "
            f"{', '.join(_PARAMETERS)}."
        )


def with_features(
    model_fn: Callable[..., EstimatorSpec], features: Any
) -> Callable[..., EstimatorSpec]:
    """Gives a model function its features: by name, wherever that parameter is; else as the first argument."""
    parameters = inspect.signature(model_fn).parameters
    by_name = "features" in parameters or all(
        one.kind is one.VAR_KEYWORD for one in parameters.values()
    )
    if by_name:
        return functools.partial(model_fn, features=features)
    return functools.partial(model_fn, features)
