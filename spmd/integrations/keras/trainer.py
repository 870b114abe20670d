"""`fit`, `evaluate` and `predict` of a Keras model, on all replicas of a mesh.

Keras's loops, callbacks and histories stay Keras's own. What its loops call for each batch is a step of the engine:
the batch is split over the replicas, and the model's state stays in its variables, where callbacks find it. A loss
is a replica's share of the loss of the global batch, so that sums over replicas, gradients included, are what one
device computes, whatever the number of rows.

Touches Keras internals, which tests/spmd/integrations/keras/test_trainer.py runs on every supported version: the
methods of `JAXTrainer` and `JAXEpochIterator` that are wrapped here, and what Keras's loops do with the state that they
are given.
"""

import warnings
from typing import Any

import keras

from spmd.errors import BatchError
from spmd.integrations.keras.batch_functions import (
    logging_function,
    predicting_function,
)
from spmd.integrations.keras.placement import BatchLoop, placement_of
from spmd.integrations.keras.typing import Method, Model
from spmd.typing import PyTree

_MODEL: Any = keras.Model


def make_function(loop: str, make: Method, /, self: Model, force: bool = False) -> Any:
    """Wraps `make_train_function` and its like, which set an attribute of the model to what loops call."""
    placement = placement_of(self)
    if placement is None:
        return make(self, force)
    function = getattr(self, f"{loop}_function")
    if force or not hasattr(function, "start"):  # Keras's own, or none
        if placement.elsewhere is not None:
            made = placement.elsewhere(loop, self)
        else:
            function_of = predicting_function if loop == "predict" else logging_function
            made: BatchLoop = function_of(self, placement, f"{loop}_step")
            if loop == "train" and placement.train is not None:
                made = placement.train(self, made)
        setattr(self, f"{loop}_function", made)
    else:
        function.start()
    return None


def state_in_variables(get: Method, /, self: Model, **wanted: bool) -> PyTree:
    """Wraps `JAXTrainer._get_jax_state`: loops hold no copies of a placed model's state."""
    if placement_of(self) is None:
        return get(self, **wanted)
    wanted.pop("purge_model_variables", None)
    return tuple([] for is_wanted in wanted.values() if is_wanted)


def host_batches(get: Method, /, self: Any) -> Any:
    """Wraps `JAXEpochIterator._get_iterator`, which puts each batch on the default device, one ahead, if that is no processor.

    Batches come from the host, as they do on processors: the engine puts them where the step runs, without texts. An
    epoch's iterator does not know its model, so this holds for models that are not placed as well. Their step takes
    batches from the host in one call, and goes on while they travel.
    """
    if keras.distribution.distribution() is not None:
        return get(self)
    return self.data_adapter.get_jax_iterator()


def build_if_possible(build: Method, /, self: Model, *args: object, **kwargs: object) -> None:
    """Wraps `Trainer._symbolic_build`: a placed model may have a step and no `call`, as a GAN has.

    Raises:
        BatchError: there is no batch to build the model for.
    """
    try:
        if placement_of(self) is None:
            build(self, *args, **kwargs)
        elif type(self).call is not _MODEL.call:
            with warnings.catch_warnings():
                # It looks at host batches, whose 64-bit numbers the engine narrows and checks later.
                warnings.filterwarnings("ignore", message="Explicitly requested dtype")
                build(self, *args, **kwargs)
    except StopIteration as end:
        raise BatchError(
            f"The model {self.name!r} expected at least one batch of data, but there is none: the dataset is empty. With "
            "drop_remainder=True it is if it has fewer rows than a batch: batch(size) without it keeps them. "
            "Look at its first batch: next(iter(dataset))."
        ) from end
