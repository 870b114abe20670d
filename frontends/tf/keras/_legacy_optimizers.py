"""`tf.keras.optimizers.legacy`: Keras 3's optimizers, with the arguments and methods of Keras 2's older ones.

They compute what the older ones did, but for epsilon in two of them: `RMSprop` without momentum and `Adagrad` divide
by `sqrt(v + epsilon)`, where the older ones divided by `sqrt(v) + epsilon`. A *slot* is a variable that an optimizer
keeps for each variable that it trains.

Internals of Keras that this touches: the lists of slots that each optimizer makes when it is built,
`Optimizer._get_variable_index` and `._iterations`; tests/frontends/tf/keras/test_legacy_optimizers.py runs it on every supported version.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike, VariableLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.gradient_tape import GradientTape
from frontends.tf.keras import _nadam
from frontends.tf.keras._optimizers import decayed
from frontends.tf.keras._weights import as_weight
from frontends.tf.ops.gradients import gradients

# Where Keras 3 keeps what Keras 2 calls a slot.
_SLOTS = {
    "Adadelta": {
        "accum_grad": "_accumulated_grads",
        "accum_var": "_accumulated_delta_vars",
    },
    "Adagrad": {"accumulator": "_accumulators"},
    "Adam": {"m": "_momentums", "v": "_velocities", "vhat": "_velocity_hats"},
    "Adamax": {"m": "_m", "v": "_u"},
    "Ftrl": {"accumulator": "_accumulators", "linear": "_linears"},
    "Nadam": {"m": "_momentums", "v": "_velocities"},
    "RMSprop": {"rms": "_velocities", "momentum": "_momentums", "mg": "_average_gradients"},
    "SGD": {"momentum": "momentums"},
}


class _Variables(list[Any]):
    """A list that may be called, too: `optimizer.variables()` is how Keras 2 writes it."""

    def __call__(self) -> "_Variables":
        return self


class _Legacy:
    """The methods that Keras 2's older optimizers have and Keras 3's do not."""

    decay: float = 0.0
    _slots: dict[str, str]

    @property
    def variables(self: Any) -> _Variables:
        """The state as Keras 3 lists it, which may be called."""
        return _Variables(super().variables)  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def weights(self: Any) -> list[Any]:
        """The number of steps, and all slots, one kind after the other."""
        slots = [
            slot for name in self.get_slot_names() for slot in getattr(self, self._slots[name])
        ]
        return [self._iterations, *slots]

    def get_weights(self) -> list[np.ndarray]:
        """Returns the values of `weights`."""
        return [np.asarray(weight) for weight in self.weights]

    def set_weights(self, weights: Sequence[TensorLike]) -> None:
        """Sets `weights`.

        Raises:
            ValueError: there are more or fewer values than weights.
        """
        if len(weights) != len(self.weights):
            raise ValueError(
                f"Expected {len(self.weights)} values, one for each of optimizer.weights, but got {len(weights)}. An optimizer "
                "has its weights after its first step: call apply_gradients with gradients of zero before set_weights."
            )
        for variable, value in zip(self.weights, weights, strict=True):
            variable.assign(value)

    def get_slot_names(self) -> list[str]:
        """Lists the kinds of slots there are by now."""
        return [name for name, kept in self._slots.items() if getattr(self, kept, None)]

    def get_slot(self: Any, var: VariableLike, slot_name: str) -> Any:
        """Returns the slot of a variable.

        Raises:
            KeyError: there is none of this name.
        """
        if slot_name not in self.get_slot_names():
            raise KeyError(
                f"Expected the name of a slot, one of {self.get_slot_names()}, but got {slot_name!r}. An optimizer has its slots "
                "after its first step."
            )
        return getattr(self, self._slots[slot_name])[self._get_variable_index(as_weight(var))]

    def get_gradients(self, loss: TensorLike, params: Sequence[VariableLike]) -> list[Any]:
        """Computes gradients in a `tf.function`.

        Raises:
            ValueError: the loss does not depend on one of `params`.
        """
        found = gradients(loss, list(params))
        for variable, gradient in zip(params, found, strict=True):
            if gradient is None:
                raise ValueError(
                    f"Expected a loss that depends on all of params, but the gradient of {variable.name} is None. Compute the "
                    "loss of it in the same tf.function, or leave it out of params."
                )
        return found

    def _compute_gradients(
        self,
        loss: TensorLike | Callable[[], TensorLike],
        var_list: Iterable[VariableLike] | Callable[[], Iterable[VariableLike]],
        grad_loss: TensorLike | None = None,
        tape: GradientTape | None = None,
    ) -> list[tuple[Any, Any]]:
        if callable(loss):
            with tape or GradientTape() as tape:
                loss = loss()
        elif tape is None:
            raise ValueError(
                "Expected the tape that recorded the loss, but got none. Pass tape=tape, or a function that computes the loss."
            )
        variables = list(var_list() if callable(var_list) else var_list)
        return list(zip(tape.gradient(loss, variables, grad_loss), variables, strict=True))

    def _decayed_lr(self, var_dtype: DTypeLike) -> jax.Array:
        rate: Any = self.learning_rate  # pyright: ignore[reportAttributeAccessIssue]
        return jnp.asarray(decayed(self, rate), jax_dtype(var_dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the options, which name decay always."""
        config = super().get_config()  # pyright: ignore[reportAttributeAccessIssue]
        return {**config, "decay": self.decay}


def _legacy(optimizer: type[Any], default_rate: float) -> type[Any]:
    def __init__(
        self: Any,
        learning_rate: Any = default_rate,
        *args: Any,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        rate: Any = kwargs.pop("lr", learning_rate)
        optimizer.__init__(self, rate, *args, lr=rate, decay=decay, **kwargs)

    # Keras saves a class by its module and name. The summary only: doctest would run Keras's examples.
    summary = (optimizer.__doc__ or "").partition("\n")[0]
    names = {"__module__": __name__, "__doc__": summary, "__init__": __init__}
    slots = {"_slots": _SLOTS[optimizer.__name__]}
    return type(optimizer.__name__, (_Legacy, optimizer), names | slots)


Adadelta = _legacy(keras.optimizers.Adadelta, 0.001)
Adagrad = _legacy(keras.optimizers.Adagrad, 0.001)
Adam = _legacy(keras.optimizers.Adam, 0.001)
Adamax = _legacy(keras.optimizers.Adamax, 0.001)
Ftrl = _legacy(keras.optimizers.Ftrl, 0.001)
Nadam = _legacy(_nadam.Nadam, 0.001)
RMSprop = _legacy(keras.optimizers.RMSprop, 0.001)
SGD = _legacy(keras.optimizers.SGD, 0.01)

_CLASSES = (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)
TABLE: dict[str, Any] = {cls.__name__: cls for cls in (*_CLASSES, keras.optimizers.Optimizer)}
