"""Slots: variables that optimizers and moving averages keep beside others, named after them as in TensorFlow 1."""

import contextlib
from collections.abc import Callable
from typing import Any

import jax
from jax.core import Tracer

from frontends.tf._typing import TensorLike, VariableLike
from frontends.tf.aggregation import VariableAggregation
from frontends.tf.compat.v1.collections import GraphKeys
from frontends.tf.compat.v1.variable_scopes import variable_scope
from frontends.tf.distribute.variable_parts import holder_of
from frontends.tf.graph import Graph
from frontends.tf.held_variable import HeldVariable
from frontends.tf.ops.name_scope import name_scope
from frontends.tf.variable import Variable, new_variable
from spmd.replica import current_frame
from spmd.state import Update, adapter_of, describing, silently
from spmd.topology import readable


def name_of(variable: VariableLike) -> str:
    """Returns a variable's name, without the number of an output."""
    holder = holder_of(variable)
    return str(getattr(holder, "path", holder.name)).removesuffix(":0")


def make_slot(
    graph: Graph,
    variable: VariableLike | str,
    name: str,
    initial: Callable[[], Any],
    bind: Callable[[Variable], None] | None = None,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """Makes a variable beside another one, or finds it: a model function makes the same ones each time.

    Args:
        graph: whose variable it is.
        variable: beside which it is, or the name of that.
        name: below that of the variable; numbered, if there is one already.
        initial: returns its first value.
        bind: says where the variable lives, when it is made; None leaves that to the strategy.
        aggregation: see `tf.Variable`.
    """
    beside = variable if isinstance(variable, str) else name_of(variable)
    part = f"{beside}/part_0" if beside in graph.partitioned else beside
    with graph.as_default(), variable_scope(None, f"{part}/{name}") as scope:
        full = scope.name
    if part != beside:
        # TensorFlow cuts off as many characters, whatever scope is around: it calls slots `t_0/Adagrad` in the scope `dnn`.
        full = f"{beside}/{full[len(part) + 1 :]}"
    return make_unseen(graph, full, initial, bind, aggregation)


def make_unseen(
    graph: Graph,
    name: str,
    initial: Callable[[], Any],
    bind: Callable[[Variable], None] | None = None,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Variable:
    """Makes a variable that nobody trains, or finds it; see `make_slot`.

    Args:
        graph: whose variable it is.
        name: all of it.
        initial: see `make_slot`.
        bind: see `make_slot`.
        aggregation: see `make_slot`.
    """
    variables = graph.store.variables
    if name not in variables:
        unbound = contextlib.nullcontext() if bind is None else silently()
        with name_scope(""), unbound:
            made = new_variable(initial, trainable=False, name=name, aggregation=aggregation)
        if bind is not None:
            bind(made)
        variables[name] = made
    graph.used.add(name)
    graph.collections[GraphKeys.GLOBAL_VARIABLES].append(variables[name])
    return variables[name]


def value_of(variable: VariableLike) -> Any:
    """Returns a variable's value, of which the step that is traced must know."""
    holder = holder_of(variable)
    return holder.value() if isinstance(holder, HeldVariable) else holder.value


def value_outside(variable: VariableLike) -> Any:
    """Returns the value that a variable has now, even while a step is traced that may change it."""
    holder: Any = holder_of(variable)
    adapter: Any = adapter_of(holder)
    value, frame = adapter.get(holder), current_frame()
    if isinstance(value, Tracer) and frame is not None:
        table: Any = frame.table
        found = table.value_outside(holder)
        return value if found is None else readable(found)
    return value


def write(variable: VariableLike, value: TensorLike, update: Update | None = None) -> None:
    """Gives a variable a value that is the same on all replicas, which nothing combines.

    Args:
        variable: the variable.
        value: of its shape.
        update: what that is, for parameter servers; None if it replaces the value.
    """
    holder = holder_of(variable)
    with describing(update or Update(holder, "set", jax.numpy.asarray(value))):
        if isinstance(holder, HeldVariable):
            holder._set(value)
        else:
            holder.assign(value)
