"""Methods that Keras's objects have while one replica's code runs, and lose afterwards.

Touches Keras internals, which tests/spmd/integrations/keras/test_methods.py runs on every supported version:
`CompileMetrics`, `MetricsList`, and `activity_regularizer`, `apply`, `next`, `result` and `update_state` looked up on the object.
"""

import contextlib
import functools
from collections.abc import Generator, Mapping
from typing import Any

import jax
import keras
from keras.src.trainers.compile_utils import CompileMetrics, MetricsList

from spmd.integrations.keras.masking import penalty_of_valid_rows
from spmd.integrations.keras.metrics import result_of_all, update_with_valid_rows
from spmd.integrations.keras.optimizers import apply_summed
from spmd.integrations.keras.typing import KerasObject, Method
from spmd.replica import for_this_replica, replica_id

_METRIC: Any = keras.metrics.Metric


@contextlib.contextmanager
def with_attributes(owner: KerasObject, attributes: Mapping[str, object]) -> Generator[None]:
    """Gives one object other methods or attributes for a `with` block, and then its own back."""
    with for_this_replica(lambda: _replaced(vars(owner), attributes)):
        yield


@contextlib.contextmanager
def _replaced(own: dict[str, Any], attributes: Mapping[str, object]) -> Generator[None]:
    before = {name: own[name] for name in attributes if name in own}
    own.update(attributes)
    try:
        yield
    finally:
        for name in attributes:
            del own[name]
        own.update(before)


def replica_methods(part: KerasObject) -> dict[str, Method]:
    """Makes the methods of an object for one replica's code, by name."""
    if isinstance(part, keras.optimizers.Optimizer):
        return {"apply": functools.partial(apply_summed, part.apply)}
    if isinstance(part, keras.random.SeedGenerator):
        # The state stays equal on all replicas; only what is drawn from it differs.
        return {"next": functools.partial(_draw, part.next)}
    if isinstance(part, _METRIC):
        methods = {"result": functools.partial(result_of_all, part, part.result)}
        if not isinstance(
            part, CompileMetrics | MetricsList
        ):  # the metrics in it leave padding out
            methods["update_state"] = functools.partial(update_with_valid_rows, part.update_state)
        return methods
    regularizer = getattr(part, "activity_regularizer", None)
    if regularizer is not None:
        return {"activity_regularizer": functools.partial(penalty_of_valid_rows, regularizer)}
    return {}


def _draw(draw: Method, /, *args: object, **kwargs: object) -> jax.Array:
    return jax.random.fold_in(draw(*args, **kwargs), replica_id())
