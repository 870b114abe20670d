"""Stateful recurrent layers: their states are state of a step, with an entry for each row of the global batch.

On JAX Keras leaves the states out of a layer's variables, so that `fit` and `predict` lose what is written to them.
A batch's rows go to the replicas in order, and a replica sees the states of its own rows.

Touches Keras internals, which tests/spmd/integrations/keras/test_recurrent.py runs on every supported version:
`RNN.states`, `RNN._expected_batch_size` and `Variable._shape`.
"""

from collections.abc import Iterator
from typing import Any

import keras

from spmd.integrations.keras.typing import KerasObject, Variable
from spmd.replica import axis_size

_RNN: Any = keras.layers.RNN
_MARK = "_spmd_of_rows"


def states_of(layer: KerasObject) -> list[Variable]:
    """Lists the variables that hold the states of a layer; none if it is no stateful recurrent layer."""
    stateful = isinstance(layer, _RNN) and layer.stateful and layer.states is not None
    states: list[Any] = keras.tree.flatten(layer.states) if stateful else []
    for state in states:
        vars(state)[_MARK] = True
    return states


def is_of_rows(variable: Variable) -> bool:
    """Tells whether a variable has an entry for each row of a batch."""
    return getattr(variable, _MARK, False)


def with_states(variables: property) -> property:
    """Wraps `RNN.variables`: the states of a stateful layer change, too."""
    get = variables.fget
    assert get is not None
    return property(lambda self: [*get(self), *states_of(self)], doc=variables.__doc__)


def replica_rows(layer: KerasObject) -> Iterator[tuple[KerasObject, dict[str, object]]]:
    """Yields what a replica's code sees of a layer that keeps states of rows: attributes of it and of its states."""
    states = states_of(layer)
    if states:
        replicas = axis_size()
        for state in states:
            rows, *rest = state.shape
            yield state, {"_shape": (rows // replicas, *rest)}
        if layer._expected_batch_size is not None:
            yield layer, {"_expected_batch_size": layer._expected_batch_size // replicas}
