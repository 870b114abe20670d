"""`model.add_loss` of symbolic tensors and `layer.add_loss` of functions, which Keras 3 dropped.

Internals of Keras that this touches: the graph of a functional model (`Functional._nodes` and its kin, `map_graph`),
`Layer._tracker` and `Layer._get_own_losses`; tests/frontends/tf/keras/test_added_losses.py runs it on every
supported version.
"""

from typing import Any

import keras
from keras.src.ops.function import map_graph

from frontends.tf._typing import Nested, TensorLike
from spmd.integrations.keras import KerasObject, Method

_FUNCTIONS = "_tf_losses"
_OUTPUTS = "_tf_loss_outputs"
_LAYER: Any = keras.Layer


@keras.saving.register_keras_serializable(package="tensorflow", name="AddLoss")
class AddLoss(_LAYER):
    """Adds what it gets to the losses of the model that it is a part of."""

    def call(self, inputs: TensorLike) -> TensorLike:
        """Adds a loss, and returns it."""
        self.add_loss(inputs)
        return inputs


def add_symbolic_loss(add: Method, /, self: KerasObject, loss: Nested) -> None:
    """Wraps `Functional.add_loss`: the model computes symbolic losses along with its outputs.

    A model that is loaded or cloned has its outputs only; add the losses again.
    """
    losses = keras.tree.flatten(loss)
    if not all(isinstance(each, keras.KerasTensor) for each in losses):
        _LAYER.add_loss(self, loss)
        return
    ends = [*getattr(self, _OUTPUTS, ()), *(AddLoss()(each) for each in losses)]
    graph = map_graph(self.inputs, [*self.outputs, *ends])
    setattr(self, _OUTPUTS, tuple(ends))
    self._nodes, self._nodes_by_depth, self._operations, self._operations_by_depth = graph
    locked, self._tracker.locked = self._tracker.locked, False
    try:
        for layer in self.layers:
            if layer not in self._layers:
                self._tracker.track(layer)
    finally:
        self._tracker.locked = locked
    self.train_function = self.test_function = None


def add_function(add: Method, /, self: KerasObject, loss: Any) -> None:
    """Wraps `Layer.add_loss`: takes functions, which are called whenever losses are read."""
    rest = [each for each in keras.tree.flatten(loss) if not callable(each)]
    functions = [each for each in keras.tree.flatten(loss) if callable(each)]
    if functions:
        vars(self)[_FUNCTIONS] = [*vars(self).get(_FUNCTIONS, ()), *functions]
    if rest or not functions:
        add(self, rest if functions else loss)


def own_losses(get: Method, /, self: KerasObject) -> list[Any]:
    """Wraps `Layer._get_own_losses`: calls the functions that `add_loss` got."""
    return [*get(self), *(function() for function in vars(self).get(_FUNCTIONS, ()))]
