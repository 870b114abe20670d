"""Modules that have another content in TensorFlow 1 than in TensorFlow 2: `tf.losses` and `tf.metrics`.

They have the names of both. Where both have a function, that of TensorFlow 1 is meant in a model function, and where it is called
with the names of its parameters (`labels=`, `predictions=`); elsewhere Keras's is.
"""

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

from frontends.tf._names import explained_error, unknown_name
from frontends.tf.graph import current_graph

# Keras's names of what TensorFlow 1 calls otherwise.
_REDUCTIONS = {
    "sum": "weighted_sum",
    "sum_over_batch_size": "weighted_sum_over_batch_size",
}


def either(name: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Makes `__getattr__` and `__dir__` of a module; both of the others are imported when they are needed.

    Args:
        name: of the module in `tf`, `tf.keras` and `tf.compat.v1`.
    """
    old_name = f"frontends.tf.compat.v1.{name}"

    def public() -> tuple[Any, list[str], Any, list[str]]:
        old = importlib.import_module(old_name)
        new = getattr(importlib.import_module("frontends.tf.keras"), name)
        own = [each for each in dir(old) if _is_own(each, getattr(old, each), old_name)]
        return old, own, new, [each for each in dir(new) if not each.startswith("_")]

    @functools.cache
    def get(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(f"module tf.{name} has no attribute {attribute}")
        old, own, new, others = public()
        if attribute not in own:
            if attribute not in others:
                text = unknown_name(f"tf.{name}", attribute, [*own, *others])
                raise explained_error(attribute, text)
            return getattr(new, attribute)
        first = getattr(old, attribute)
        if attribute not in others:
            return _with_reductions(first) if inspect.isfunction(first) else first
        second = getattr(new, attribute)
        if inspect.isclass(first):
            return type(attribute, (second, first), {"__doc__": second.__doc__})
        return _chosen(_with_reductions(first), second)

    def names() -> list[str]:
        _, own, _, others = public()
        return sorted({*own, *others})

    return get, names


def _is_own(name: str, value: Any, module: str) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", "").startswith(module)


def _with_reductions(function: Callable[..., Any]) -> Callable[..., Any]:
    if "reduction" not in inspect.signature(function).parameters:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "reduction" in kwargs:
            kwargs["reduction"] = _REDUCTIONS.get(kwargs["reduction"], kwargs["reduction"])
        return function(*args, **kwargs)

    return call


def _chosen(first: Callable[..., Any], second: Callable[..., Any]) -> Callable[..., Any]:
    mine = set(inspect.signature(first).parameters) - set(inspect.signature(second).parameters)

    @functools.wraps(second)
    def call(*args: Any, **kwargs: Any) -> Any:
        is_first = current_graph() is not None or not mine.isdisjoint(kwargs)
        return (first if is_first else second)(*args, **kwargs)

    return call
