"""Keras's optimizers as rules of parameter servers: gradients are sent, and the servers update.

A worker clips and unscales gradients, and evaluates the learning rate; it sends them with the number of iterations. The
server runs the optimizer itself, compiled, on one variable and the slots that it keeps beside it.

Touches Keras internals, which tests/spmd/integrations/keras/test_server_rules.py runs on every supported version:
`Optimizer._iterations`, `._learning_rate`, `._trainable_variables`, `._filter_empty_gradients`, `._clip_gradients`,
`._use_weight_decay` and `._get_current_learning_rate`.
"""

import functools
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from spmd.errors import StateError
from spmd.integrations.keras.storage import storage_of
from spmd.integrations.keras.typing import Method, Optimizer, Variable
from spmd.replica import current_frame
from spmd.state import Update, back_new, backing_of, is_backed, silently, update_by_rule
from spmd.typing import PyTree

_VARIABLE: Any = keras.Variable
_Arrays = list[Any]


class KerasRule:
    """An optimizer as a parameter server runs it, on one variable.

    Attributes:
        key: the optimizer's own, and what the variable needs besides.
    """

    def __init__(
        self,
        key: str,
        cls: type[Any],
        config: dict[str, Any],
        decays: bool,
        constraint: Callable[[Any], Any] | None,
    ) -> None:
        """Describes an optimizer.

        Args:
            key: tells optimizers apart.
            cls: its class.
            config: what it was made with.
            decays: whether weights decay, if the optimizer decays any.
            constraint: of the variable, or None.
        """
        self.key = key
        self._cls, self._config, self._decays, self._constraint = cls, config, decays, constraint
        self._by_row: dict[Any, bool] = {}

    def slots(self, value: np.ndarray[Any, Any]) -> _Arrays:
        """Returns the initial values of what the optimizer keeps beside a variable."""
        return [np.asarray(slot.value) for slot in self._optimizer(value)[1]]

    def update(
        self, value: jax.Array, slots: list[jax.Array], operand: PyTree
    ) -> tuple[jax.Array, list[jax.Array]]:
        """Applies a gradient; `operand` is the gradient, the learning rate and the number of iterations."""
        optimizer, own = self._optimizer(value)
        gradient, rate, iterations = operand
        values = {id(slot): slot_value for slot, slot_value in zip(own, slots, strict=True)}
        values[id(optimizer._iterations)] = iterations
        values[id(optimizer._learning_rate)] = rate
        with silently():
            (new,), others = optimizer.stateless_apply(
                [values[id(one)] for one in optimizer.variables], [gradient], [value]
            )
        after = {id(one): new for one, new in zip(optimizer.variables, others, strict=True)}
        return new, [after[id(slot)] for slot in own]

    def is_by_row(self, value: np.ndarray[Any, Any]) -> bool:
        """Tells whether a row and its slots change only by its own gradient, by trying it on few rows."""
        kind = value.shape[1:], str(value.dtype)
        if kind not in self._by_row:
            random, some = np.random.default_rng(0), np.arange(8) < 3
            # Of both signs, small and large: a constraint may leave alone what is in its bounds.
            rows = random.normal(size=(8, *kind[0])) * np.resize(
                [0.01, 100], (8, *[1] * len(kind[0]))
            )
            rows = rows.astype(value.dtype)
            slots = [
                random.uniform(0.1, 1, np.shape(slot)).astype(slot.dtype)
                for slot in self.slots(rows)
            ]
            gradient = random.normal(size=rows.shape).astype(value.dtype)
            gradient[~some] = 0
            self._by_row[kind] = all(slot.shape == rows.shape for slot in slots) and _alike(
                self._try(rows, slots, gradient),
                self._try(rows[some], [slot[some] for slot in slots], gradient[some]),
                [rows, *slots],
                some,
            )
        return self._by_row[kind]

    def _try(self, value: Any, slots: Any, gradient: Any) -> list[np.ndarray[Any, Any]]:
        operand = gradient, np.float32(0.1), np.int32(3)
        new, others = jax.jit(self.update)(value, slots, operand)
        return list(map(np.asarray, (new, *others)))

    def _optimizer(self, value: Any) -> tuple[Any, _Arrays]:
        """Makes the optimizer of a variable of some shape and type; returns it with its slots.

        Nobody keeps it: its own copies of the slots are as large as those that the server has.
        """
        with silently(), jax.ensure_compile_time_eval():
            optimizer = self._cls.from_config(self._config)
            if not self._decays:
                optimizer.weight_decay = None
            variable = _VARIABLE(np.zeros(np.shape(value), value.dtype), dtype=str(value.dtype))
            variable.constraint = self._constraint
            optimizer.build([variable])
        others = optimizer._iterations, optimizer._learning_rate
        slots = [one for one in optimizer.variables if all(one is not each for each in others)]
        # Those of the variable first, as `bind_slot` counts them.
        slots.sort(key=lambda slot: not _is_slot(slot))
        return optimizer, slots

    def __reduce__(self) -> Any:
        arguments = self.key, self._cls, self._config, self._decays, self._constraint
        return KerasRule, arguments


def _alike(whole: _Arrays, part: _Arrays, before: _Arrays, some: np.ndarray[Any, Any]) -> bool:
    """Tells whether an update of all rows is that of some rows, and leaves the others as they were."""
    return all(
        np.array_equal(new[~some], old[~some]) and np.allclose(new[some], own, rtol=1e-5)
        for new, own, old in zip(whole, part, before, strict=True)
    )


def rule_of(optimizer: Optimizer, variable: Variable) -> KerasRule:
    """Returns the rule by which servers update a variable for an optimizer."""
    own = vars(optimizer).setdefault("_spmd_rules", {})
    if "key" not in own:
        own["key"] = uuid.uuid4().hex
    decays = optimizer._use_weight_decay(variable)
    constraint = variable.constraint
    name = own["key"] if decays else f"{own['key']}-without-decay"
    if constraint is not None:
        # The same in every process.
        names = [id(one) for one in optimizer._trainable_variables]
        name = f"{name}-{names.index(id(variable)) if id(variable) in names else len(names)}"
    if (id(constraint), decays) not in own:
        # The worker clips, unscales, and knows the rate, which may follow a schedule.
        config = _config(optimizer) | dict.fromkeys(_BY_THE_WORKER) | {"learning_rate": 1.0}
        own[id(constraint), decays] = KerasRule(name, type(optimizer), config, decays, constraint)
    return own[id(constraint), decays]


def _config(optimizer: Optimizer) -> dict[str, Any]:
    """Returns what an optimizer was made with; Keras would ask for the value of the rate, which a trace lacks."""
    own = vars(optimizer)
    rate = own["_learning_rate"]
    own["_learning_rate"] = 1.0
    try:
        return dict(optimizer.get_config())
    finally:
        own["_learning_rate"] = rate


_BY_THE_WORKER = ("clipnorm", "clipvalue", "global_clipnorm", "loss_scale_factor")


def bind_slot(
    make: Method, /, self: Optimizer, reference_variable: Variable, *args: object, **kwargs: object
) -> Variable:
    """Wraps `Optimizer.add_variable_from_reference`: a slot lives where the variable does."""
    with silently():
        slot = make(self, reference_variable, *args, **kwargs)
    slot._spmd_reference = reference_variable
    holder = storage_of(reference_variable)
    backing: Any = backing_of(holder)
    if is_backed([holder]):
        counts = vars(self).setdefault("_spmd_slot_counts", {})
        position = counts[id(holder)] = counts.get(id(holder), -1) + 1
        rule = rule_of(self, reference_variable)
        backing.bind_slot(slot, holder, rule.key, position)
    else:
        back_new(slot, is_slot=True)
    return slot


def _is_slot(variable: Variable) -> bool:
    """Tells whether an optimizer keeps a variable beside one that it trains."""
    return hasattr(variable, "_spmd_reference")


def _bind_shared(optimizer: Optimizer, first: Variable) -> bool:
    """Makes what an optimizer keeps for all variables together show what the server of the first one keeps."""
    others = optimizer._iterations, optimizer._learning_rate
    shared = [
        one
        for one in optimizer.variables
        if not _is_slot(one) and all(one is not each for each in others)
    ]
    holder = storage_of(first)
    backing: Any = backing_of(holder)
    count = vars(optimizer)["_spmd_slot_counts"].get(id(holder), -1) + 1
    for position, variable in enumerate(shared, count):
        if backing is not None:
            backing.bind_slot(variable, holder, rule_of(optimizer, first).key, position)
    return True


def apply_on_servers(
    apply: Method,
    /,
    self: Optimizer,
    grads: Sequence[jax.Array | None],
    trainable_variables: Sequence[Variable] | None = None,
) -> object:
    """Wraps `Optimizer.apply`: sends the gradients, if the variables live on parameter servers."""
    given = self._trainable_variables if trainable_variables is None else trainable_variables
    variables, gradients = list(given), list(grads)
    if not is_backed(list(map(storage_of, variables))):
        return apply(self, grads, trainable_variables)
    if not self.built:
        with keras.name_scope(self.name):
            self.build(variables)
    if "_spmd_slot_counts" not in vars(self) and any(map(_is_slot, self.variables)):
        raise StateError(
            f"The optimizer {self.name!r} was built for variables that the program had for itself, and that live on "
            "parameter servers now; what the optimizer keeps beside them does not. Make model and optimizer in the "
            "strategy's scope."
        )
    if "_spmd_slot_counts" in vars(self) and "_spmd_shared" not in vars(self):
        vars(self)["_spmd_shared"] = _bind_shared(self, variables[0])
    frame = current_frame()
    if frame is not None and frame.building:
        return apply(self, gradients, variables)
    kept, trained = self._filter_empty_gradients(gradients, variables)
    arrays = [jnp.asarray(gradient) for gradient in kept]
    if self.loss_scale_factor is not None:
        arrays = [gradient / self.loss_scale_factor for gradient in arrays]
    if not self.gradient_accumulation_steps:
        arrays = self._clip_gradients(arrays)
    rate, iterations = self._get_current_learning_rate(), self._iterations.value
    updates = [
        Update(storage_of(one), "apply", (gradient, rate, iterations), detail=rule_of(self, one))
        for one, gradient in zip(trained, arrays, strict=True)
    ]
    update_by_rule(updates, functools.partial(_predict, apply, self, gradients, variables))
    self._iterations.assign_add(1)
    return None


def _predict(
    apply: Method, self: Optimizer, grads: Sequence[Any], variables: Sequence[Variable]
) -> None:
    """Computes what the servers will, and leaves the number of iterations as it is."""
    before = self._iterations._value
    apply(self, grads, variables)
    self._iterations._value = before
