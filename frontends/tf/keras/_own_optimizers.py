"""The base class of optimizers of one's own in the way of Keras 2: `tf.keras.optimizers.legacy.Optimizer`.

A *hyperparameter* is a number that a program reads at each step, in a variable, so that it may change between steps. A
*slot* is a variable that an optimizer keeps for each variable that it trains. Keras 3 runs the step: it sums gradients
over the replicas, clips them and counts; what a subclass defines computes the new values.

Internals of Keras that this touches: `Optimizer._learning_rate`, `._iterations`, `._backend_update_step`,
`._get_current_learning_rate`, `._apply_weight_decay`, `._use_weight_decay` and `._untrack_variable`;
tests/frontends/tf/keras/test_own_optimizers.py runs it on every supported version.
"""

import contextvars
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike, VariableLike
from frontends.tf._user_view import seen_by_users
from frontends.tf.dtypes import DType, as_dtype, jax_dtype
from frontends.tf.gradient_tape import GradientTape
from frontends.tf.indexed_slices import IndexedSlices, is_slices, summed
from frontends.tf.keras._optimizers import VariableRate
from frontends.tf.keras._variable_view import IN_OPTIMIZER
from frontends.tf.keras._weights import as_weight
from frontends.tf.ops.gradients import gradients
from frontends.tf.variable import Variable
from spmd.assigned import assigned

_BASE: Any = keras.optimizers.Optimizer
_SCHEDULE: Any = keras.optimizers.schedules.LearningRateSchedule
_NUMBERS = (bool, int, float, np.ndarray, np.generic, jax.Array)
# The optimizer whose apply_gradients runs.
_APPLYING: contextvars.ContextVar[Any] = contextvars.ContextVar("applying", default=None)
# The numbers of rows that have gradients, by variable.
_ROWS: contextvars.ContextVar[dict[int, jax.Array] | None] = contextvars.ContextVar(
    "rows", default=None
)


class _Variables(list[Any]):
    """A list that may be called, too: `optimizer.variables()` is how Keras 2 writes it."""

    def __call__(self) -> "_Variables":
        return self


class Optimizer(_BASE):
    """The base class of optimizers that define `_resource_apply_dense`, as Keras 2's do.

    A subclass calls `_set_hyper` for its hyperparameters in `__init__`, and `add_slot` in `_create_slots(var_list)`. It updates
    a variable in `_resource_apply_dense(grad, var, apply_state)`, and by rows in `_resource_apply_sparse(grad, var, indices,
    apply_state)`, and returns its options in `get_config`. Subclasses of `tf.keras.optimizers.Optimizer`, `Adam`, `SGD` and
    the others that define `_resource_apply_dense` and no `update_step` are subclasses of this one, too.

    What differs here: `fit` computes gradients of embeddings as arrays, so `_resource_apply_dense` gets them; in loops
    of one's own, `_resource_apply_sparse` gets those of looked-up rows. In a program, `indices` have the number behind
    the last row in place of repeated ones: writes to it are dropped. `var.name` is the variable's path with `:0`, in which
    Keras 3 counts the names of models, too. Slots do not depend on the order in which variables are restored:
    checkpoints keep them as one list.

    Args:
        name: of the optimizer; None takes that of the class.
        gradient_transformers: functions of lists of pairs of a gradient and a variable, which return such lists; called
            after gradients are summed and clipped.
        **kwargs: `clipnorm`, `clipvalue`, `global_clipnorm`, `lr` and `decay`.

    Raises:
        TypeError: an argument is none of these.
        ValueError: one of `kwargs` is negative.

    Examples:
        >>> from frontends import tf
        >>> class Sign(tf.keras.optimizers.legacy.Optimizer):
        ...     def __init__(self, learning_rate=0.5, name="Sign", **kwargs):
        ...         super().__init__(name, **kwargs)
        ...         self._set_hyper("learning_rate", learning_rate)
        ...
        ...     def _resource_apply_dense(self, grad, var, apply_state=None):
        ...         return var.assign_sub(self._decayed_lr(var.dtype) * tf.sign(grad))
        >>> weight = tf.Variable([1.0, 2.0])
        >>> _ = Sign().apply_gradients([(tf.constant([3.0, -4.0]), weight)])
        >>> weight.numpy().tolist()
        [0.5, 2.5]

    Source: `tf.keras.optimizers.legacy.Optimizer`.
    """

    _use_locking = False
    _HAS_AGGREGATE_GRAD = True
    _initial_decay = 0.0
    gradient_transformers: Sequence[Callable[[Any], Any]] = ()

    def __init__(
        self,
        name: str | None = None,
        gradient_transformers: Sequence[Callable[[Any], Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        allowed = ("clipnorm", "clipvalue", "lr", "decay", "global_clipnorm")
        for key, value in kwargs.items():
            if key not in allowed:
                raise TypeError(
                    f"Expected keyword arguments of an optimizer, {', '.join(allowed)}, but got {key}={value!r}. Take it in the "
                    f"__init__ of {type(self).__name__}, and do not pass it to super().__init__()."
                )
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, but got {value}.")
        self._initial_decay = float(kwargs.pop("decay", None) or 0.0)
        rate = kwargs.pop("lr", None)
        _BASE.__init__(self, 0.0, name=name, **kwargs)
        self.gradient_transformers = tuple(gradient_transformers or ())
        if rate is not None:
            self._set_hyper("learning_rate", rate)

    # Hyperparameters.

    @functools.cached_property
    def _hyper(self) -> dict[str, Any]:
        return {}

    @property
    def _name(self) -> str:
        return self.name

    def _set_hyper(self, name: str, value: Any) -> None:
        """Sets a hyperparameter: a number, a tensor, a variable, a schedule or a function without arguments."""
        if name == "learning_rate":
            self._set_rate(value)
            self._hyper[name] = value
            return
        held = self._hyper.get(name)
        if isinstance(held, keras.Variable) and isinstance(value, _NUMBERS):
            held.assign(value)
        else:
            self._hyper[name] = value

    def _set_rate(self, value: Any) -> None:
        """Puts the learning rate where Keras looks for it."""
        if isinstance(value, Variable):
            value = VariableRate(value)
        number = not callable(value)
        if number and not isinstance(self._learning_rate, keras.Variable):
            initializer = keras.initializers.Constant(float(value))
            self._learning_rate = self.add_variable((), initializer, name="learning_rate")
        elif number:
            self._learning_rate.assign(value)
        else:
            _BASE.learning_rate.fset(self, value)

    def _get_hyper(self, name: str, dtype: DTypeLike = None) -> Any:
        """Returns a hyperparameter as an array, or in its variable without `dtype`; a schedule as it is."""
        self._create_hypers()
        value = self._learning_rate if name == "learning_rate" else self._hyper[name]
        if isinstance(value, _SCHEDULE):
            return value
        if callable(value):
            value = value()
        return value if dtype is None else jnp.asarray(value, jax_dtype(dtype))

    def _create_hypers(self) -> None:
        """Makes variables of hyperparameters that are numbers."""
        for name, value in sorted(self._hyper.items()):
            if name != "learning_rate" and isinstance(value, _NUMBERS):
                number = keras.initializers.Constant(float(value))
                self._hyper[name] = self.add_variable((), number, name=name)

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        """Returns what `get_config` has of a hyperparameter: a number, or the options of a schedule."""
        value = self._hyper[hyperparameter_name]
        if hyperparameter_name == "learning_rate" and isinstance(value, _NUMBERS):
            current = float(np.asarray(self._learning_rate))
            return value if np.float32(value) == np.float32(current) else current
        if isinstance(value, _SCHEDULE):
            return keras.optimizers.schedules.serialize(value)
        if callable(value):
            value = value()
        return float(np.asarray(value)) if isinstance(value, keras.Variable | Variable) else value

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in vars(self).get("_hyper", ()):
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self).get("_hyper", ()):
            self._set_hyper(name, value)
        elif "_lock" in vars(self) or name == "_lock":
            super().__setattr__(name, value)
        else:  # before __init__, which Keras 2 allows
            object.__setattr__(self, name, value)

    def _shown_rate(self) -> Any:
        rate = self._learning_rate
        return rate if isinstance(rate, _SCHEDULE) else self._get_current_learning_rate()

    learning_rate: Any = seen_by_users(
        lambda self: self._get_current_learning_rate(),
        _shown_rate,
        "The learning rate: its variable, or the schedule, which takes a step: `optimizer.learning_rate(step)`.",
    ).setter(lambda self, rate: self._set_hyper("learning_rate", rate))
    lr: Any = learning_rate

    @property
    def weight_decay(self) -> Any:
        """A hyperparameter or attribute of the subclass; Keras 3's own weight decay is off."""
        return vars(self).get("_weight_decay")

    @weight_decay.setter
    def weight_decay(self, value: Any) -> None:
        object.__setattr__(self, "_weight_decay", value)

    def _apply_weight_decay(self, variables: Sequence[VariableLike]) -> None:
        """Does nothing: what a subclass calls weight_decay is for its own formula."""

    def _use_weight_decay(self, variable: VariableLike) -> bool:
        return False

    def _decayed_lr(self, var_dtype: DTypeLike) -> jax.Array:
        """Returns the learning rate of this step."""
        dtype = jax_dtype(var_dtype)
        rate = jnp.asarray(self._get_current_learning_rate(), dtype)
        decay = self._initial_decay
        return rate / (1 + decay * jnp.asarray(self.iterations, dtype)) if decay else rate

    # Slots and weights.

    @functools.cached_property
    def _own_slots(self) -> dict[str, dict[int, Any]]:
        return {}

    @functools.cached_property
    def _weights(self) -> list[Any]:
        return [self._iterations]

    def build(self, var_list: Iterable[VariableLike]) -> None:
        """Makes the hyperparameters' variables and the slots."""
        variables = [*map(as_weight, var_list)]
        super().build(variables)
        self._create_hypers()
        with assigned(IN_OPTIMIZER, True):
            self._create_slots(self._trainable_variables)

    def _create_all_weights(self, var_list: Iterable[VariableLike]) -> None:
        if not self.built:
            self.build(var_list)

    def _create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Makes slots, in subclasses that have some."""

    def add_slot(
        self,
        var: VariableLike,
        slot_name: str,
        initializer: Any = "zeros",
        shape: ShapeLike | None = None,
    ) -> Any:
        """Makes a slot of a variable, or returns the one that there is.

        Args:
            var: the variable.
            slot_name: of the slot.
            initializer: an initializer or its name, or the initial value.
            shape: of the slot; None takes that of `var`.
        """
        var = as_weight(var)
        slots = self._own_slots.setdefault(slot_name, {})
        if id(var) in slots:
            return slots[id(var)]
        if not (isinstance(initializer, str) or callable(initializer)):
            value = initializer
            initializer = lambda shape, dtype=None: jnp.array(value, dtype)  # noqa: E731
        if shape is None:
            slot = self.add_variable_from_reference(var, name=slot_name, initializer=initializer)
        else:
            slot = self.add_variable(
                tuple(shape), initializer, dtype=var.dtype, name=f"{var.name}_{slot_name}"
            )
        slots[id(var)] = slot
        self._weights.append(slot)
        return slot

    def get_slot_names(self) -> list[str]:
        """Lists the kinds of slots there are by now."""
        return [*self._own_slots]

    def get_slot(self, var: VariableLike, slot_name: str) -> Any:
        """Returns the slot of a variable.

        Raises:
            KeyError: there is none of this name.
        """
        found = self._own_slots.get(slot_name, {}).get(id(as_weight(var)))
        if found is None:
            raise KeyError(
                f"Expected the name of a slot, one of {self.get_slot_names()}, but got {slot_name!r}. An optimizer has its slots "
                "after its first step."
            )
        return found

    @property
    def variables(self) -> _Variables:
        """The state as Keras 3 lists it, which may be called."""
        return _Variables(super().variables)

    @property
    def weights(self) -> list[Any]:
        """The number of steps, and all slots in the order in which they were made."""
        return [*self._weights]

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

    # Gradients.

    def minimize(
        self,
        loss: TensorLike | Callable[[], TensorLike],
        var_list: Iterable[VariableLike] | Callable[[], Iterable[VariableLike]],
        grad_loss: TensorLike | None = None,
        name: str | None = None,
        tape: GradientTape | None = None,
    ) -> Any:
        """Computes the gradients of a loss, times `grad_loss`, and applies them.

        Raises:
            ValueError: the loss is an array, and there is no tape.
        """
        return self.apply_gradients(self._compute_gradients(loss, var_list, grad_loss, tape), name)

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

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[TensorLike, VariableLike]],
        name: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Updates variables; the arguments are those of `tf.keras.optimizers.Optimizer`.

        Returns:
            The number of steps so far.
        """
        pairs = list(grads_and_vars)
        aggregate = kwargs.get("experimental_aggregate_gradients", True)
        aggregate = aggregate and not kwargs.get("skip_gradients_aggregation", False)
        rows = self._rows(pairs, aggregate) if self._is_own("_resource_apply_sparse") else {}
        with assigned(_APPLYING, self), assigned(_ROWS, rows):
            return super().apply_gradients(pairs, name, **kwargs)

    def _is_own(self, name: str) -> bool:
        """Tells whether a user's class defines a method."""
        owner = next(cls for cls in type(self).__mro__ if name in vars(cls))
        return not owner.__module__.startswith(("frontends.", "keras."))

    def _rows(self, pairs: list[tuple[Any, VariableLike]], aggregate: bool) -> dict[int, jax.Array]:
        """Lists the rows that have gradients on any replica, each once."""
        found: dict[int, jax.Array] = {}
        for gradient, variable in pairs:
            if is_slices(gradient) and isinstance(as_weight(variable), keras.Variable):
                (joined,) = summed([gradient]) if aggregate else (gradient,)
                count, numbers = int(variable.shape[0]), jnp.asarray(joined.indices).reshape(-1)
                numbers = jnp.where((numbers < 0) | (numbers > count), count, numbers)
                size = min(numbers.size, count + 1)
                numbers = jnp.unique(numbers, size=size, fill_value=count)
                if not isinstance(numbers, Tracer):
                    numbers = numbers[numbers < count]
                found[id(as_weight(variable))] = numbers
        return found

    def apply(
        self,
        grads: Sequence[TensorLike],
        trainable_variables: Iterable[VariableLike] | None = None,
    ) -> Any:
        """Updates variables, as `fit` does: by the subclass's `apply_gradients`, where it has one."""
        if not self._is_own("apply_gradients") or _APPLYING.get() is self:
            return super().apply(grads, trainable_variables)
        given = trainable_variables
        variables = list(self._trainable_variables if given is None else given)
        return self.apply_gradients(list(zip(grads, variables, strict=True)))

    # What a subclass computes.

    def _backend_update_step(
        self,
        grads: Sequence[TensorLike],
        trainable_variables: Sequence[VariableLike],
        learning_rate: TensorLike,
    ) -> None:
        pairs = list(zip(grads, trainable_variables, strict=True))
        with assigned(IN_OPTIMIZER, True):
            for transform in self.gradient_transformers:
                pairs = transform(pairs)
            state = self._prepare([variable for _, variable in pairs])
            for gradient, variable in pairs:
                self._update(gradient, as_weight(variable), state)

    def _update(self, gradient: TensorLike, variable: VariableLike, state: Any) -> None:
        rows = (_ROWS.get() or {}).get(id(variable))
        if rows is not None:
            values = jnp.asarray(gradient).at[rows].get(mode="fill", fill_value=0)
            method, args = self._resource_apply_sparse_duplicate_indices, (values, variable, rows)
        else:
            method, args = self._resource_apply_dense, (gradient, variable)
        takes = inspect.signature(method).parameters.values()
        named = any(one.name == "apply_state" or one.kind == one.VAR_KEYWORD for one in takes)
        method(*args, **({"apply_state": state} if named else {}))

    def _prepare(self, var_list: Sequence[VariableLike]) -> dict[Any, Any]:
        """Computes what variables of one device and type share, by `_prepare_local`."""
        state: dict[Any, Any] = {}
        for variable in var_list:
            key = variable.device, as_dtype(variable.dtype)
            if key not in state:
                state[key] = {}
                self._prepare_local(*key, state)
        return state

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: Any) -> None:
        """Puts the learning rate of this step in `apply_state[var_device, var_dtype]["lr_t"]`."""
        apply_state[var_device, var_dtype]["lr_t"] = self._decayed_lr(var_dtype)

    def _fallback_apply_state(self, var_device: str, var_dtype: DType) -> dict[str, Any]:
        state: dict[Any, Any] = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[var_device, var_dtype]

    def _resource_apply_dense(
        self, grad: TensorLike, var: VariableLike, apply_state: Any = None
    ) -> Any:
        """Updates a variable; a subclass defines it."""
        raise NotImplementedError(
            f"Expected {type(self).__name__} to define how it updates a variable, but it defines neither. Define "
            "_resource_apply_dense(self, grad, var, apply_state=None), or update_step(self, gradient, variable, "
            "learning_rate) in a subclass of tf.keras.optimizers.Optimizer."
        )

    def _resource_apply_sparse(
        self, grad: TensorLike, var: VariableLike, indices: TensorLike, apply_state: Any = None
    ) -> Any:
        """Updates some rows of a variable, each once; without it, gradients of rows become arrays."""
        raise NotImplementedError(
            f"Expected {type(self).__name__} to define how it updates rows, but it does not. Define "
            "_resource_apply_sparse(self, grad, var, indices, apply_state=None)."
        )

    def _resource_apply_sparse_duplicate_indices(
        self, grad: TensorLike, var: VariableLike, indices: TensorLike, **kwargs: Any
    ) -> Any:
        """Updates some rows of a variable."""
        takes = inspect.signature(self._resource_apply_sparse).parameters
        kwargs = {name: value for name, value in kwargs.items() if name in takes}
        return self._resource_apply_sparse(grad, var, indices, **kwargs)

    def _resource_scatter_add(self, x: Any, i: TensorLike, v: TensorLike) -> Any:
        return x.scatter_add(IndexedSlices(v, i))

    def _resource_scatter_update(self, x: Any, i: TensorLike, v: TensorLike) -> Any:
        return x.scatter_update(IndexedSlices(v, i))

    def get_config(self) -> dict[str, Any]:
        """Returns the name, and how gradients are clipped, if they are."""
        options = {
            name: getattr(self, name) for name in ("clipnorm", "clipvalue", "global_clipnorm")
        }
        return {"name": self.name} | {k: v for k, v in options.items() if v is not None}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Makes an optimizer from the options that `get_config` returned."""
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = keras.optimizers.schedules.deserialize(
                config["learning_rate"], custom_objects
            )
        return cls(**config)
