"""Which of Keras's objects hold state, and which variables they hold. Touches Keras internals.

Internals, which tests/spmd/integrations/keras/test_parts.py runs on every supported version:
`Layer._flatten_layers`, `._seed_generators` and `._metrics`, `Metric._metrics` and `._built`, `CompileMetrics`,
`Variable._aggregation`, `JaxLayer.tracked_state`, `Layer._trainable_variables`.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import keras
from keras.src.trainers.compile_utils import CompileMetrics

from spmd.integrations.keras.recurrent import is_of_rows
from spmd.integrations.keras.storage import storage_of
from spmd.integrations.keras.typing import KerasObject, Variable
from spmd.state import Kind, Role

_BATCH_NORMALIZATION: Any = keras.layers.BatchNormalization
_LAYER: Any = keras.Layer
_METRIC: Any = keras.metrics.Metric
_OPTIMIZER: Any = keras.optimizers.Optimizer


def parts_of(objects: Sequence[KerasObject]) -> list[KerasObject]:
    """Lists all objects that hold state, each once: layers of models, inner optimizers, metrics, seed generators."""
    found: dict[int, Any] = {}
    waiting = [one for one in objects if not isinstance(one, keras.Variable)]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in found:
            continue
        found[id(part)] = part
        if isinstance(part, _LAYER):
            waiting += [*part._flatten_layers(include_self=False), *part._seed_generators]
            # Of a model, also those that it was compiled with.
            waiting += part.metrics if isinstance(part, keras.Model) else part._metrics
            # Models may have more optimizers than the one that they were compiled with.
            waiting += [value for value in vars(part).values() if isinstance(value, _OPTIMIZER)]
        elif isinstance(part, _METRIC):
            waiting += part._metrics
            # A distance between features has a network.
            waiting += [value for value in vars(part).values() if isinstance(value, _LAYER)]
        else:
            waiting.append(getattr(part, "inner_optimizer", None))
    return list(found.values())


def variables_of(owner: KerasObject) -> list[Variable]:
    """Lists the variables of an object and its parts, and marks those that replicas average."""
    found: dict[int, Any] = {}
    for part in parts_of([owner]):
        if isinstance(part, _BATCH_NORMALIZATION):
            for variable in part.non_trainable_variables if part.trainable else part.variables:
                if variable is not part.gamma and variable is not part.beta:
                    # TensorFlow's rule, which Keras declares for TensorFlow only.
                    variable._aggregation = "mean"
        elif isinstance(part, keras.layers.JaxLayer):
            # Floating state of a Linen or Haiku module is statistics over its rows.
            for variable in part.tracked_state:
                if jnp.issubdtype(variable.dtype, jnp.floating):
                    variable._aggregation = "mean"
        state = [part.state] if isinstance(part, keras.random.SeedGenerator) else part.variables
        found.update((id(variable), variable) for variable in state)
    return list(found.values())


def kind_of(variable: Variable) -> Kind:
    """Tells how replicas share a variable, from Keras's `aggregation` and `synchronization`."""
    if is_of_rows(variable):
        return Kind.ROWS
    if variable.aggregation == "mean":
        return Kind.MEAN
    if variable.aggregation == "sum" and variable.synchronization == "on_read":
        return Kind.SUM
    return Kind.MIRRORED


def roles_of(variables: Sequence[Variable], objects: Sequence[KerasObject]) -> list[Role]:
    """Tells what variables are to a training step; a frozen weight is a parameter, too.

    Args:
        variables: as `storage_of` returns them.
        objects: what holds them.
    """
    roles: dict[int, Role] = {}
    for part in parts_of(objects):
        if isinstance(part, _OPTIMIZER):
            roles.update((id(storage_of(v)), Role.OPTIMIZER) for v in part.variables)
        elif isinstance(part, _LAYER):
            roles.update((id(storage_of(v)), Role.PARAMETER) for v in part._trainable_variables)
    return [roles.get(id(variable), Role.OTHER) for variable in variables]


def is_built(part: KerasObject) -> bool:
    """Tells whether a part has made its variables."""
    if isinstance(part, CompileMetrics):
        return part.built
    if isinstance(part, _METRIC):
        # Some make variables at their first update, and Keras's own remember whether they did.
        return getattr(part, "_built", bool(part.variables))
    return not isinstance(part, (_LAYER, _OPTIMIZER)) or part.built
