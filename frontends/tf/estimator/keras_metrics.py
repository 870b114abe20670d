"""Keras's metrics in `eval_metric_ops`, as pairs of a value and an update.

A model function makes its metric anew for each batch, and updates it, which happens in the trace. What the metric's variables
hold then is what the batch adds to them, since Keras's metrics are sums, over which they compute their result. So local
variables add it up, as for the metrics of TensorFlow 1.
"""

import functools
import re
from typing import Any

import jax

from frontends.tf.compat.v1.metrics.streaming import Collections, Metric, streamed
from spmd._jax_internals import is_tracing

_NUMBER = re.compile(r"_\d+$")


def is_keras_metric(value: Any) -> bool:
    """Tells whether something is a metric of Keras; imports nothing."""
    return hasattr(value, "update_state") and hasattr(value, "stateless_result")


def pair_of(metric: Any) -> Metric:
    """Makes a value and an update of a metric that was updated with a batch.

    Args:
        metric: of Keras, or of a class that inherits one of Keras's that adds up.

    Raises:
        TypeError: nobody knows whether it adds up.
    """
    bases = [base for base in type(metric).__mro__ if base.__module__.startswith("keras.")]
    if bases[0].__name__ == "Metric":
        raise TypeError(
            f"{type(metric).__name__} in eval_metric_ops inherits tf.keras.metrics.Metric itself, so nobody knows how its batches "
            "are put together. Inherit a metric that adds up, such as tf.keras.metrics.Mean, and call super().update_state(values); "
            "or use tf.compat.v1.metrics."
        )
    variables = metric.variables
    dtypes = [variable.dtype for variable in variables]
    sums = {f"{index}_{variable.name}": variable.value for index, variable in enumerate(variables)}

    @functools.cache
    def outside() -> Any:
        # The model function's may hold what belongs to its trace.
        return type(metric).from_config(metric.get_config())

    def compute(*held: Any) -> jax.Array:
        values = [value.astype(dtype) for value, dtype in zip(held, dtypes, strict=True)]
        return (metric if is_tracing() else outside()).stateless_result(values)

    # Keras numbers what has no name, anew in each call of the model function; the graph numbers it, too.
    name = _NUMBER.sub("", metric.name)
    return streamed(name, sums, compute, Collections())
