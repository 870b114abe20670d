"""`tf.keras.optimizers.legacy`: Keras 3's optimizers, with the arguments and methods of Keras 2's older ones.

They compute what the older ones did, but for epsilon in two of them: `RMSprop` without momentum and `Adagrad` divide
by `sqrt(v + epsilon)`, where the older ones divided by `sqrt(v) + epsilon`. Subclasses may override what optimizers of one's
own define, and call it: `super()._resource_apply_dense(grad, var, apply_state)`.

Internals of Keras that this touches: the lists of slots that each optimizer makes when it is built,
`Optimizer._get_variable_index`, `._backend_update_step` and `._apply_weight_decay`; tests/frontends/tf/keras/test_legacy_optimizers.py runs it on every supported version.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import keras

from frontends.tf._typing import DTypeLike, TensorLike, VariableLike
from frontends.tf.dtypes import DType, as_dtype, jax_dtype
from frontends.tf.indexed_slices import IndexedSlices
from frontends.tf.keras import _nadam
from frontends.tf.keras._own_optimizers import Optimizer
from frontends.tf.keras._weights import as_weight

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


# The arguments that may stand without their names.
_ARGUMENTS = {
    "Adadelta": ("learning_rate", "rho", "epsilon", "name"),
    "Adagrad": ("learning_rate", "initial_accumulator_value", "epsilon", "name"),
    "Adam": ("learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad", "name"),
    "Adamax": ("learning_rate", "beta_1", "beta_2", "epsilon", "name"),
    "Ftrl": (
        *("learning_rate", "learning_rate_power", "initial_accumulator_value"),
        *("l1_regularization_strength", "l2_regularization_strength", "name"),
        *("l2_shrinkage_regularization_strength", "beta"),
    ),
    "Nadam": ("learning_rate", "beta_1", "beta_2", "epsilon", "name"),
    "RMSprop": ("learning_rate", "rho", "momentum", "epsilon", "centered", "name"),
    "SGD": ("learning_rate", "momentum", "nesterov", "name"),
}
# What a subclass may define of a step.
_STEPS = ("_resource_apply_dense", "_resource_apply_sparse", "_prepare_local", "_decayed_lr")
# Options of Keras 3 that are saved only where they have an effect: Keras 2 has none of them.
_KERAS_3 = {
    "weight_decay": None,
    "clipnorm": None,
    "clipvalue": None,
    "global_clipnorm": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}


class _OfKeras(Optimizer):
    """What an optimizer of Keras 3 becomes one of Keras 2's by; comes before Keras's class in the order of bases."""

    decay: float = 0.0
    _decays = False
    _slots: dict[str, str]

    @property
    def _initial_decay(self) -> float:
        return self.decay

    def _slot_lists(self) -> dict[str, list[Any]]:
        lists = {name: getattr(self, kept, None) for name, kept in self._slots.items()}
        return {name: kept for name, kept in lists.items() if kept}

    def _get_hyper(self, name: str, dtype: DTypeLike = None) -> Any:
        if name == "learning_rate" or name in self._hyper:
            return super()._get_hyper(name, dtype)
        value = getattr(self, name)
        return value if dtype is None else jnp.asarray(value, jax_dtype(dtype))

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        if hyperparameter_name in self._hyper:
            return super()._serialize_hyperparameter(hyperparameter_name)
        return self.get_config()[hyperparameter_name]

    @property
    def weights(self) -> list[Any]:
        """The number of steps, and all slots, one kind after the other."""
        step, *own = self._weights
        return [step, *(slot for kept in self._slot_lists().values() for slot in kept), *own]

    def get_slot_names(self) -> list[str]:
        """Lists the kinds of slots there are by now."""
        return [*self._slot_lists(), *super().get_slot_names()]

    def get_slot(self, var: VariableLike, slot_name: str) -> Any:
        """Returns the slot of a variable.

        Raises:
            KeyError: there is none of this name.
        """
        kept = self._slot_lists().get(slot_name)
        if kept is None:
            return super().get_slot(var, slot_name)
        return kept[self._get_variable_index(as_weight(var))]

    def _backend_update_step(
        self,
        grads: Sequence[TensorLike],
        trainable_variables: Sequence[VariableLike],
        learning_rate: TensorLike,
    ) -> None:
        if any(map(self._is_own, _STEPS)) or self.gradient_transformers:
            self._begin_step()
            super()._backend_update_step(grads, trainable_variables, learning_rate)
        else:  # Keras's own, as one
            super(Optimizer, self)._backend_update_step(grads, trainable_variables, learning_rate)

    def _begin_step(self) -> None:
        begin: Any = getattr(super(Optimizer, self), "begin_step", None)
        if begin is not None:
            begin()

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: Any) -> None:
        """Puts what depends on the step alone in `apply_state`, under the names that Keras 2 has for it."""
        super()._prepare_local(var_device, var_dtype, apply_state)
        dtype, found = jax_dtype(var_dtype), apply_state[var_device, var_dtype]
        names = {"beta_1": "beta_1_t", "beta_2": "beta_2_t", "momentum": "momentum", "rho": "rho"}
        for name, key in names.items():
            if isinstance(value := getattr(self, name, None), int | float):
                found[key] = jnp.asarray(value, dtype)
        if "beta_2_t" in found:
            step = jnp.asarray(self.iterations, dtype) + 1
            for name in ("beta_1", "beta_2"):
                found[f"{name}_power"] = found[f"{name}_t"] ** step
                found[f"one_minus_{name}_t"] = 1 - found[f"{name}_t"]
            correction = jnp.sqrt(1 - found["beta_2_power"]) / (1 - found["beta_1_power"])
            found["lr"] = found["lr_t"] * correction
        if isinstance(epsilon := getattr(self, "epsilon", None), int | float):
            found["epsilon"] = jnp.asarray(epsilon, dtype)

    def _resource_apply_dense(
        self, grad: TensorLike, var: VariableLike, apply_state: Any = None
    ) -> Any:
        """Updates a variable as Keras does."""
        key = var.device, as_dtype(var.dtype)
        found = (apply_state or {}).get(key) or self._fallback_apply_state(*key)
        super(Optimizer, self).update_step(grad, as_weight(var), found["lr_t"])

    def _resource_apply_sparse(
        self, grad: TensorLike, var: VariableLike, indices: TensorLike, apply_state: Any = None
    ) -> Any:
        """Updates a variable as Keras does, which moves all rows."""
        whole = jnp.asarray(IndexedSlices(grad, indices, tuple(var.shape)))
        _OfKeras._resource_apply_dense(self, whole, var, apply_state)

    def _apply_weight_decay(self, variables: Sequence[VariableLike]) -> None:
        if self._decays:
            super(Optimizer, self)._apply_weight_decay(variables)

    def _use_weight_decay(self, variable: VariableLike) -> bool:
        return self._decays and super(Optimizer, self)._use_weight_decay(variable)

    def get_config(self) -> dict[str, Any]:
        """Returns the options, which name decay always."""
        config = super(Optimizer, self).get_config()
        kept = {
            name: value
            for name, value in config.items()
            if name not in _KERAS_3 or value != _KERAS_3[name]
        }
        return {**kept, "decay": self.decay}


def _legacy(optimizer: type[Any], default_rate: float) -> type[Any]:
    arguments = _ARGUMENTS[optimizer.__name__]

    def __init__(self: Any, *args: Any, decay: float = 0.0, **kwargs: Any) -> None:
        if len(args) > len(arguments):
            raise TypeError(
                f"Expected at most {len(arguments)} arguments without a name, {', '.join(arguments)}, but got {len(args)}. "
                "Name the others."
            )
        kwargs |= dict(zip(arguments, args, strict=False))
        given = kwargs.pop("learning_rate", default_rate)
        rate: Any = kwargs.pop("lr", given)
        make: Any = optimizer.__init__
        make(self, learning_rate=rate, lr=rate, decay=decay, **kwargs)
        self._decays = kwargs.get("weight_decay") is not None

    # Keras saves a class by its module and name. The summary only: doctest would run Keras's examples.
    summary = (optimizer.__doc__ or "").partition("\n")[0]
    names = {"__module__": __name__, "__doc__": summary, "__init__": __init__}
    slots = {"_slots": _SLOTS[optimizer.__name__]}
    return type(optimizer.__name__, (_OfKeras, optimizer), names | slots)


Adadelta = _legacy(keras.optimizers.Adadelta, 0.001)
Adagrad = _legacy(keras.optimizers.Adagrad, 0.001)
Adam = _legacy(keras.optimizers.Adam, 0.001)
Adamax = _legacy(keras.optimizers.Adamax, 0.001)
Ftrl = _legacy(keras.optimizers.Ftrl, 0.001)
Nadam = _legacy(_nadam.Nadam, 0.001)
RMSprop = _legacy(keras.optimizers.RMSprop, 0.001)
SGD = _legacy(keras.optimizers.SGD, 0.01)

_CLASSES = (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)
TABLE: dict[str, Any] = {cls.__name__: cls for cls in (*_CLASSES, Optimizer)}


def adopt(cls: type[Any], **kwargs: Any) -> None:
    """Becomes `__init_subclass__` of Keras's optimizers: a class in the way of Keras 2 gets the bases that Keras 2 had.

    Such a class defines `_resource_apply_dense`, or another part of such a step, and no `update_step`.
    """
    base: Any = keras.optimizers.Optimizer
    super(base, cls).__init_subclass__(**kwargs)
    own = vars(cls)
    old = any(name in own for name in (*_STEPS, "_create_slots"))
    if old and "update_step" not in own and not issubclass(cls, Optimizer):
        cls.__bases__ = tuple(_ADOPTIVE.get(base, base) for base in cls.__bases__)


_ADOPTIVE: dict[Any, Any] = {
    getattr(keras.optimizers, each.__name__): each for each in TABLE.values()
}
