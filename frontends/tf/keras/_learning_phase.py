"""What Keras 2 had around training: the learning phase, functions of symbolic tensors, and a base of recurrent cells."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike

# As in Keras 3, nothing reads it but the script.
_PHASE: dict[str, Any] = {"value": 0}


def learning_phase() -> Any:
    """Returns what `set_learning_phase` set, 0 at first.

    Source: `tf.keras.backend.learning_phase`.
    """
    return _PHASE["value"]


def set_learning_phase(value: int) -> None:
    """Keeps a value for `learning_phase`; layers go by the argument `training` of a call, as in Keras 3.

    Args:
        value: 0 or 1.

    Raises:
        ValueError: it is another value.

    Source: `tf.keras.backend.set_learning_phase`.
    """
    if value not in (0, 1):
        raise ValueError(f"Expected learning phase to be 0 or 1, got {value!r}.")
    _PHASE["value"] = value


def function(
    inputs: Sequence[Any],
    outputs: Any,
    updates: object = None,
    name: str | None = None,
    **kwargs: object,
) -> Callable[[Sequence[TensorLike]], Any]:
    """Makes a function of arrays of a function of symbolic tensors.

    Args:
        inputs: symbolic tensors, such as `model.inputs`; `learning_phase()` behind them stands for the argument
            `training`.
        outputs: a symbolic tensor, or a list of them.
        updates: accepted, and not used.

    Returns:
        A function that takes a list of arrays, and returns NumPy's.

    Raises:
        ValueError: there is no symbolic tensor among the inputs.

    Source: `tf.keras.backend.function`.
    """
    symbolic = [one for one in inputs if isinstance(one, keras.KerasTensor)]
    if not symbolic:
        raise ValueError(
            "tf.keras.backend.function: expected symbolic tensors, such as model.inputs. Of arrays, write a Python function."
        )
    model: Any = keras.Model(symbolic, outputs)

    def call(values: Sequence[TensorLike]) -> Any:
        given = list(values) if isinstance(values, list | tuple) else [values]
        flags = given[len(symbolic) :]
        training = bool(np.asarray(flags[0])) if flags else False
        arrays = [keras.ops.convert_to_tensor(one) for one in given[: len(symbolic)]]
        found = model(arrays if len(arrays) > 1 else arrays[0], training=training)
        many = isinstance(found, list | tuple)
        return [np.asarray(one) for one in found] if many else np.asarray(found)

    return call


class AbstractRNNCell(keras.layers.Layer):
    """A base of cells for `tf.keras.layers.RNN`: one defines `call`, `state_size` and `output_size`.

    Source: `tf.keras.layers.AbstractRNNCell` of Keras 2.
    """

    def call(self, inputs: TensorLike, states: Any) -> Any:
        """Computes a step: returns the result and the new states."""
        raise NotImplementedError("A cell defines call(self, inputs, states).")

    @property
    def state_size(self) -> Any:
        """Sizes of the states."""
        raise NotImplementedError("A cell defines the property state_size.")

    @property
    def output_size(self) -> int:
        """Size of the result."""
        raise NotImplementedError("A cell defines the property output_size.")

    def get_initial_state(
        self, inputs: Any = None, batch_size: int | None = None, dtype: DTypeLike = None
    ) -> Any:
        """Makes states of zeros."""
        rows = len(inputs) if batch_size is None else batch_size
        sizes = self.state_size
        kind = dtype or self.compute_dtype
        if isinstance(sizes, list | tuple):
            return [keras.ops.zeros((rows, size), kind) for size in sizes]
        return keras.ops.zeros((rows, sizes), kind)
