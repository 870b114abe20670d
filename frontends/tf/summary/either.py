"""`tf.summary.scalar` and its like, which TensorFlow 1 has with other parameters, and collects in a model function."""

import functools
from collections.abc import Callable
from typing import Any

from frontends.tf.compat.v1 import summary
from frontends.tf.summary import ops
from frontends.tf.summary.collected import is_collected

# What only TensorFlow 1's functions take, and only TensorFlow 2's.
_OLD = frozenset({"tensor", "values", "collections", "family"})
_NEW = frozenset({"step", "buckets", "description"})


def _chosen(function: Callable[..., Any]) -> Callable[..., Any]:
    """Calls TensorFlow 1's function in place of one where that is meant: in a model function, or by its parameters."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        is_new = not _NEW.isdisjoint(kwargs)
        if is_new or (_OLD.isdisjoint(kwargs) and not is_collected()):
            return function(*args, **kwargs)
        if "data" in kwargs:
            name = args[0] if args else kwargs.pop("name")
            args = (name, kwargs.pop("data"))
        return getattr(summary, function.__name__)(*args, **kwargs)

    return call


scalar = _chosen(ops.scalar)
histogram = _chosen(ops.histogram)
image = _chosen(ops.image)
text = _chosen(ops.text)
