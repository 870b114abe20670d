"""How Keras's objects get to the workers of other processes: with their attributes, as other objects do.

Keras would pickle an archive of a model, whose parts would no longer be those that the step's code refers to.

Touches Keras internals, which tests/spmd/integrations/keras/test_copies.py runs on every supported version:
`Optimizer._trainable_variables`, `._trainable_variables_indices` and `._var_key`; `Trainer._eval_epoch_iterator`.
"""

from typing import Any

import keras

from spmd.integrations.keras.placement import Placement, note_placement, placement_of
from spmd.integrations.keras.typing import KerasObject, Model, Optimizer, Variable
from spmd.servers import Reduced, fill, plainly, register_reducer

# What Keras's loops make for themselves: programs that were compiled here, and what `fit` validates on.
_MADE_BY_LOOPS = ("train_function", "test_function", "predict_function", "_eval_epoch_iterator")


def _reduce_model(model: Model) -> Reduced:
    make, arguments, (attributes, slots) = plainly(model)[:3]
    attributes |= dict.fromkeys(_MADE_BY_LOOPS)
    state = (attributes, slots), placement_of(model)
    return make, arguments, state, None, None, _fill_model


def _fill_model(model: Model, state: tuple[Any, Placement | None]) -> None:
    attributes, placement = state
    fill(model, attributes)
    if placement is not None:
        note_placement(model, placement)


def _reduce_optimizer(optimizer: Optimizer) -> Reduced:
    make, arguments, (attributes, slots) = plainly(optimizer)[:3]
    rules = attributes.get("_spmd_rules")
    if rules is not None:
        attributes["_spmd_rules"] = {"key": rules["key"]}
    # By the variables' ids, which the copies do not share.
    attributes.pop("_trainable_variables_indices", None)
    trained = list(optimizer._trainable_variables) if optimizer.built else []
    return make, arguments, ((attributes, slots), trained), None, None, _fill_optimizer


def _fill_optimizer(optimizer: Optimizer, state: tuple[Any, list[Variable]]) -> None:
    attributes, trained = state
    fill(optimizer, attributes)
    vars(optimizer)["_trainable_variables_indices"] = {
        optimizer._var_key(variable): index for index, variable in enumerate(trained)
    }


def register_reducers() -> None:
    """Says how Keras's objects are copied to workers."""
    plain: tuple[KerasObject, ...] = (keras.Operation, keras.Metric, keras.Loss, keras.Variable)
    for cls in plain:
        register_reducer(cls, plainly)
    register_reducer(keras.Model, _reduce_model)
    register_reducer(keras.optimizers.Optimizer, _reduce_optimizer)
