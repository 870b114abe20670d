"""`tf.compat.v1.train.Optimizer`: gradients of a loss, and operations that apply them.

A *formula* computes new values of a gradient, an *optimizer* holds its settings and finds the *slots*: variables beside
those that are trained. In a model function they belong to its estimator, under their names; elsewhere to the optimizer.
"""

import contextlib
import contextvars
import dataclasses
import functools
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._typing import Nested, TensorLike, VariableLike
from frontends.tf.compat.v1.collections import GraphKeys
from frontends.tf.compat.v1.slots import make_slot, make_unseen, name_of, value_of, write
from frontends.tf.compat.v1.train.changes import Change, apply_changes
from frontends.tf.compat.v1.train.formulas import Formula
from frontends.tf.compat.v1.train.update_rule import UpdateRule
from frontends.tf.distribute.scope import get_strategy, in_cross_replica_context
from frontends.tf.distribute.variable_parts import holder_of, whole_pairs
from frontends.tf.gradient_tape import GradientTape
from frontends.tf.graph import Graph, Operation, current_graph
from frontends.tf.indexed_slices import IndexedSlices, array_or_slices, is_slices
from frontends.tf.ops.name_scope import in_name_scope
from frontends.tf.variable import Variable
from spmd.assigned import assigned
from spmd.state import Searched, Update, back_new, backing_of

_Pairs = list[tuple[Any, VariableLike]]
# Reductions of losses that a sum over replicas continues.
_SUMS = ("weighted_sum", "sum")
# Whether the gradients that are applied are sums over the replicas.
_SUMMED = contextvars.ContextVar("tf_gradients_summed", default=False)


def summed_already() -> contextlib.AbstractContextManager[Any]:
    """Has optimizers take what they apply in the block for sums over the replicas."""
    return assigned(_SUMMED, True)


@dataclasses.dataclass(eq=False)
class Slots(Searched):
    """What an optimizer keeps, in a model function or outside of all.

    Attributes:
        graph: gives the names.
        key: of the optimizer, the same in all processes that run it.
        own: each variable with its slots. A list, since this is sent to workers.
        shared: what is kept for all variables together, by name.
    """

    graph: Graph
    key: str
    own: list[tuple[VariableLike, list[Variable]]] = dataclasses.field(default_factory=list[Any])
    shared: dict[str, Variable] = dataclasses.field(default_factory=dict[str, Variable])

    def find(self, variable: VariableLike) -> list[Variable] | None:
        """Returns the slots of a variable, if it has some."""
        holder = holder_of(variable)
        return next((slots for one, slots in self.own if one is holder), None)


class Optimizer(Searched):
    """Base of the optimizers of TensorFlow 1.

    In a model function `minimize` and `apply_gradients` return operations, which run if they are fetched; elsewhere they
    act at once. In a replica gradients are summed over the replicas.

    The gradient of a table of which a model looks up rows is a `tf.IndexedSlices`: most optimizers leave the other rows as
    they are, with their slots.

    Source: `tf.compat.v1.train.Optimizer`.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = range(3)

    def __init__(
        self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False
    ) -> None:
        """Names the optimizer.

        Args:
            use_locking: without effect.
            name: of the slots.

        Raises:
            ValueError: there is no name.
        """
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name = name
        self._outside = Slots(Graph(), uuid.uuid4().hex)

    def get_name(self) -> str:
        """Returns the name."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: VariableLike | None = None,
        var_list: Nested = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Operation | None:
        """Computes gradients of a loss, and applies them.

        Args:
            loss: see `compute_gradients`.
            global_step: see `apply_gradients`.
            var_list: see `compute_gradients`.
            name: of the operation.
            grad_loss: see `compute_gradients`.

        Returns:
            See `apply_gradients`.

        Raises:
            ValueError: no variable has a gradient.

        Source: `tf.compat.v1.train.Optimizer.minimize`.
        """
        # By name, as a subclass may take them in another order.
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if pairs and all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[name_of(one) for _, one in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Nested = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ) -> _Pairs:
        """Computes the gradients of a loss; of one replica, where there are several.

        Under an estimator, the loss of a replica is divided by the number of replicas, unless `tf.losses` summed it last.

        Args:
            loss: a tensor, in a model function; or a function that returns one.
            var_list: variables; None means those of the collection `TRAINABLE_VARIABLES`, and of Keras's layers all
                that the loss has read.
            gate_gradients: one of `GATE_NONE`, `GATE_OP` and `GATE_GRAPH`; without effect.
            grad_loss: weights of the elements of the loss; None means ones.

        Returns:
            Pairs of a gradient and a variable. The gradient is a `tf.IndexedSlices` of the rows that were looked up, if the
            variable has no other use, and None where the loss does not depend on the variable. In
            a model function that is not called to train, gradients are zeros: what they lead to cannot be run.

        Raises:
            RuntimeError: the loss is a tensor, and this is no model function.
            ValueError: there are no variables.

        Source: `tf.compat.v1.train.Optimizer.compute_gradients`.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        graph = current_graph()
        given = None if var_list is None else nest.flatten(var_list)
        if callable(loss):
            with GradientTape() as tape:
                loss = loss()
            variables = list(tape.watched_variables()) if given is None else given
        elif graph is None:
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is "
                "enabled: minimize(lambda: loss_of(model, batch), var_list=variables). A tensor is for model functions "
                "of an estimator."
            )
        else:
            tape = graph.tape
            variables = _trainable(graph) if given is None else given
        if tape is None:
            return [(jnp.zeros_like(value_of(one)), one) for one in variables]
        if not variables:
            raise ValueError("No variables to optimize.")
        tape.watch([one for one in variables if not getattr(one, "trainable", True)])
        weights = None if grad_loss is None else jnp.asarray(grad_loss)
        if graph is not None and graph.scales_loss and graph.loss_reduction not in _SUMS:
            loss = jnp.asarray(loss)
            weights = (jnp.ones_like(loss) if weights is None else weights) / _replicas()
        gradients = tape.gradient(loss, variables, weights)
        return list(zip(gradients, variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, VariableLike]],
        global_step: VariableLike | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Operation | None:
        """Applies gradients.

        Args:
            grads_and_vars: pairs as `compute_gradients` returns them. A gradient may be a `tf.IndexedSlices`: then most
                optimizers leave the other rows as they are, with their slots.
            global_step: a variable, to which 1 is added afterwards.
            name: of the operation.
            skip_gradients_aggregation: whether gradients are sums over the replicas already.

        Returns:
            An operation in a model function, and None elsewhere.

        Raises:
            RuntimeError: called between replicas.
            ValueError: there are no variables, or no gradients.

        Source: `tf.compat.v1.train.Optimizer.apply_gradients`.
        """
        given, graph = list(grads_and_vars), current_graph()
        if graph is not None and graph.tape is None:
            return graph.operation(name or self._name, self._refuse)
        if in_cross_replica_context():
            raise RuntimeError(
                "Use `apply_gradients()` in a replica: strategy.run(train_step, args=(batch,)). It was called in a "
                "cross-replica context."
            )
        if not given:
            raise ValueError("No variables provided.")
        pairs = [pair for pair in _whole(given) if pair[0] is not None]
        if not pairs:
            names = [name_of(one) for _, one in given]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        scalars = [jnp.asarray(_called(one), jnp.result_type(float)) for one in self._scalars()]
        kept, powers = self._kept(), list[tuple[Variable, jax.Array]]()
        for power, base in self._shared():
            if power not in kept.shared:
                full = kept.graph.unique_name(in_name_scope(power))
                kept.shared[power] = make_unseen(kept.graph, full, functools.partial(_called, base))
            powers.append((kept.shared[power], jnp.asarray(_called(base), jnp.float32)))
        changes = [self._change(kept, gradient, variable) for gradient, variable in pairs]
        sums = not (skip_gradients_aggregation or _SUMMED.get())

        def effect() -> None:
            values = [power.value() for power, _ in powers]
            apply_changes(changes, [*scalars, *values], sums)
            for (power, base), value in zip(powers, values, strict=True):
                write(power, value * base, Update(power, "multiply", base))
            if global_step is not None:
                global_step.assign_add(jnp.ones((), value_of(global_step).dtype))

        if graph is None:
            effect()
            return None
        inputs = [*jax.tree.leaves([gradient for gradient, _ in given]), *self._scalars()]
        operation = graph.operation(name or self._name, effect, inputs)
        graph.collections[GraphKeys.TRAIN_OP].append(operation)
        return operation

    def get_slot(self, var: VariableLike, name: str) -> Variable | None:
        """Returns a slot of a variable; None if there is none (yet).

        Args:
            var: a variable that was trained.
            name: one of `get_slot_names`.

        Source: `tf.compat.v1.train.Optimizer.get_slot`.
        """
        slots, names = self._kept().find(var), self._slot_names()
        return slots[names.index(name)] if slots is not None and name in names else None

    def get_slot_names(self) -> list[str]:
        """Lists the names of the slots that there are.

        Source: `tf.compat.v1.train.Optimizer.get_slot_names`.
        """
        return sorted(self._slot_names()) if self._kept().own else []

    def variables(self) -> list[Variable]:
        """Lists the variables that the optimizer keeps, by their names.

        Source: `tf.compat.v1.train.Optimizer.variables`.
        """
        kept = self._kept()
        found = [*kept.shared.values(), *(slot for _, slots in kept.own for slot in slots)]
        return sorted(found, key=lambda slot: str(slot.name))

    def _refuse(self) -> None:
        """Says that nothing was recorded of which gradients could be."""
        raise RuntimeError(
            f"The operation of {self._name} was run, but the model function was not called to train: its gradients "
            "are not known. Run it in the mode tf.estimator.ModeKeys.TRAIN only."
        )

    def _formula(self) -> Formula:
        """Returns how a variable is updated."""
        raise NotImplementedError(
            f"{type(self).__name__} must override apply_gradients: operations that update one variable, such as "
            "_apply_dense, are not called here."
        )

    def _formula_for(self, variable: VariableLike) -> Formula:
        """Returns how this variable is updated, where not all are alike."""
        return self._formula()

    def _scalars(self) -> Sequence[Any]:
        """Lists what the formula takes besides: numbers, tensors, or functions that return them."""
        return ()

    def _shared(self) -> Sequence[tuple[str, Any]]:
        """Lists powers that are kept for all variables: their names, and the bases, by which an update multiplies them."""
        return ()

    def _slot_names(self) -> Sequence[str]:
        """Lists what `get_slot` calls the slots of the formula, in their order."""
        return ()

    def _op_names(self) -> Sequence[str]:
        """Lists what their own names end with."""
        return (self._name,) * len(self._slot_names())

    def _kept(self) -> Slots:
        graph = current_graph()
        if graph is None:
            return self._outside
        if self not in graph.kept:
            graph.kept[self] = Slots(graph, graph.unique_name(self._name))
        return graph.kept[self]

    def _make_slot(
        self,
        kept: Slots,
        holder: VariableLike,
        op_name: str,
        initial: Callable[[], jax.Array],
        bind: Callable[[Variable], None],
    ) -> Variable:
        """Makes a slot of a variable, or finds it."""
        return make_slot(kept.graph, holder, op_name, initial, bind)

    def _change(self, kept: Slots, gradient: Any, variable: VariableLike) -> Change:
        """Describes the update of a variable, and makes its slots if it has none."""
        holder = holder_of(variable)
        formula = self._formula_for(holder)
        constraint = getattr(variable, "constraint", None)
        key = f"{kept.key} {formula}"
        if constraint is not None:
            key += f" {name_of(holder)}"
        rule = UpdateRule(key, formula, constraint)
        slots = kept.find(holder)
        if slots is None:
            slots = [
                self._make_slot(kept, holder, op_name, *_bound(holder, rule, position))
                for position, op_name in enumerate(self._op_names())
            ]
            if slots:
                kept.own.append((holder, slots))
        if is_slices(gradient) and constraint is not None:
            raise RuntimeError(
                f"Cannot use a constraint function on a sparse variable: {name_of(holder)}."
            )
        if is_slices(gradient):
            gradient = IndexedSlices(gradient.values, gradient.indices, value_of(holder).shape)
        return Change(holder, array_or_slices(gradient), slots, rule)


def _bound(
    holder: VariableLike, rule: UpdateRule, position: int
) -> tuple[Callable[[], jax.Array], Callable[[Variable], None]]:
    """Returns what makes the first value of a slot, and what has it live where its variable does."""
    value = value_of(holder)
    start = rule.formula.initial()[position]

    def bind(slot: Variable) -> None:
        backing: Any = backing_of(holder)
        if backing is None:
            back_new(slot, is_slot=True)
        else:
            backing.bind_slot(slot, holder, rule.key, position)

    return functools.partial(_initial, value.shape, start, value.dtype), bind


def _initial(shape: tuple[int, ...], start: float, dtype: Any) -> jax.Array:
    return jnp.full(shape, start, dtype)


def _called(value: Any) -> Any:
    """Takes the value of a setting that is a function, such as a schedule."""
    return value() if callable(value) else value


def _trainable(graph: Graph) -> list[VariableLike]:
    """Lists what a loss trains by default: `get_variable`'s, and those of other libraries that the tape has seen."""
    found = list(graph.collections[GraphKeys.TRAINABLE_VARIABLES])
    named = {id(one) for one in graph.store.variables.values()}
    read = () if graph.tape is None else graph.tape.watched_variables()
    return [*found, *(one for one in read if id(holder_of(one)) not in named)]


def _whole(pairs: _Pairs) -> _Pairs:
    """Puts variables in place of their parts."""
    gradients, variables = zip(*pairs, strict=True)
    return list(zip(*whole_pairs(gradients, variables), strict=True))


def _replicas() -> int:
    return get_strategy().num_replicas_in_sync
