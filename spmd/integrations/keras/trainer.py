"""`fit`, `evaluate` and `predict` of a Keras model, on all replicas of a mesh.

Keras's loops, callbacks and histories stay Keras's own. What its loops call for each batch is a step of the engine:
the batch is split over the replicas, and the model's state stays in its variables, where callbacks find it. A loss
is a replica's share of the loss of the global batch, so that sums over replicas, gradients included, are what one
device computes, whatever the number of rows.

Touches Keras internals, which tests/spmd/integrations/keras/test_trainer.py runs on every supported version: the
methods of `JAXTrainer` that are wrapped here, and what its loops do with the state that they are given.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import keras

from spmd.integrations.keras.batch_functions import (
    BatchFunction,
    logging_function,
    predicting_function,
)
from spmd.integrations.keras.placement import Placement, placement_of
from spmd.integrations.keras.typing import Method, Model
from spmd.typing import PyTree

_MODEL: Any = keras.Model


def _making(
    attribute: str, method: str, make: Callable[[Model, Placement, str], BatchFunction]
) -> Callable[[Method], Method]:
    """Wraps `make_train_function` and its like, which set an attribute of the model to what loops call."""

    def wrap(original: Method) -> Method:
        @functools.wraps(original)
        def make_function(self: Model, force: bool = False) -> object:
            placement = placement_of(self)
            if placement is None:
                return original(self, force)
            function = getattr(self, attribute)
            if force or not isinstance(function, BatchFunction):
                setattr(self, attribute, make(self, placement, method))
            else:
                function.start()
            return None

        return make_function

    return wrap


make_train_function = _making("train_function", "train_step", logging_function)
make_test_function = _making("test_function", "test_step", logging_function)
make_predict_function = _making("predict_function", "predict_step", predicting_function)


def state_in_variables(get: Method) -> Method:
    """Wraps `JAXTrainer._get_jax_state`: loops hold no copies of a placed model's state."""

    @functools.wraps(get)
    def _get_jax_state(self: Model, *args: object, **kwargs: object) -> PyTree:
        if placement_of(self) is None:
            return get(self, *args, **kwargs)
        wanted = [name for name, value in kwargs.items() if value and name.endswith("_variables")]
        return tuple([] for name in wanted if name != "purge_model_variables")

    return _get_jax_state


def build_if_possible(build: Method) -> Method:
    """Wraps `Trainer._symbolic_build`: a placed model may have a step and no `call`, as a GAN has."""

    @functools.wraps(build)
    def _symbolic_build(self: Model, *args: object, **kwargs: object) -> None:
        if placement_of(self) is None:
            build(self, *args, **kwargs)
        elif type(self).call is not _MODEL.call:
            with warnings.catch_warnings():
                # It looks at host batches, whose 64-bit numbers the engine narrows and checks later.
                warnings.filterwarnings("ignore", message="Explicitly requested dtype")
                build(self, *args, **kwargs)

    return _symbolic_build
