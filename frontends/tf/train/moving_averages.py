"""`tf.train.ExponentialMovingAverage`: averages of variables over the steps of training."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import nest
from frontends.tf._typing import TensorLike, VariableLike
from frontends.tf.compat.v1.collections import (
    GraphKeys,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from frontends.tf.compat.v1.slots import make_slot, name_of, value_of, value_outside, write
from frontends.tf.distribute.variable_parts import holder_of
from frontends.tf.gradient_sources import is_variable
from frontends.tf.graph import Graph, Operation, current_graph
from frontends.tf.variable import Variable
from spmd.replica import all_reduce, in_replica
from spmd.state import Searched, Update


class ExponentialMovingAverage(Searched):
    """Keeps averages of variables, in which later values weigh more.

    In a model function `apply` returns an operation, which runs if it is fetched, and the averages are the estimator's;
    elsewhere it acts at once. An average starts with the value that its variable has when the average is made.

    Examples:
        >>> from frontends import tf
        >>> weight = tf.Variable(1.0)
        >>> averages = tf.train.ExponentialMovingAverage(0.75)
        >>> averages.apply([weight])
        >>> _ = weight.assign(5.0)
        >>> averages.apply([weight])
        >>> float(averages.average(weight))
        2.0

    Source: `tf.train.ExponentialMovingAverage`.
    """

    def __init__(
        self,
        decay: TensorLike,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        """Makes averages of nothing yet.

        Args:
            decay: how much of an average stays in a step.
            num_updates: how many steps there were; early ones keep `(1 + n) / (10 + n)`, if that is less.
            zero_debias: whether averages of tensors, which start with zero, are corrected for that.
            name: at the end of the averages' names.
        """
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._outside = Graph()
        self._averages: list[_Average] = []  # outside of model functions

    @property
    def name(self) -> str:
        """What the names of averages end with."""
        return self._name

    def apply(self, var_list: Sequence[VariableLike] | None = None) -> Operation | None:
        """Updates the averages; makes those that are missing.

        Args:
            var_list: variables; in a model function tensors, too. None means the trainable variables.

        Returns:
            An operation in a model function, and None elsewhere.

        Raises:
            TypeError: something is no floating-point number, or no variable where this is no model function.

        Source: `tf.train.ExponentialMovingAverage.apply`.
        """
        graph = current_graph()
        found = [
            self._average_of(one)
            for one in (trainable_variables() if var_list is None else nest.flatten(var_list))
        ]

        def effect() -> None:
            decay = jnp.asarray(self._decay, jnp.float32)
            if self._num_updates is not None:
                count = jnp.asarray(self._num_updates).astype(jnp.float32)
                decay = jnp.minimum(decay, (1 + count) / (10 + count))
            for one in found:
                one.update(1 - decay)

        if graph is None:
            effect()
            return None
        return graph.operation(self._name, effect, [one.of for one in found])

    def average(self, var: VariableLike) -> Variable | None:
        """Returns the average of a variable or tensor; None if there is none.

        Source: `tf.train.ExponentialMovingAverage.average`.
        """
        found = self._find(var)
        return None if found is None else found.held

    def average_name(self, var: VariableLike) -> str:
        """Returns the name that the average of a variable has, or would have.

        Source: `tf.train.ExponentialMovingAverage.average_name`.
        """
        held = self.average(var)
        return f"{name_of(var)}/{self._name}" if held is None else name_of(held)

    def variables_to_restore(
        self, moving_avg_variables: Sequence[VariableLike] | None = None
    ) -> dict[str, VariableLike]:
        """Says under which names to look in a checkpoint for the values that variables are to have in an evaluation.

        Args:
            moving_avg_variables: those that are to have their averages; None means the trainable ones, and those with
                averages.

        Returns:
            The variables, by the names of their averages, and others by their own.

        Source: `tf.train.ExponentialMovingAverage.variables_to_restore`.
        """
        averaged = moving_avg_variables
        if averaged is None:
            averaged = [*trainable_variables(), *moving_average_variables()]
        found = {self.average_name(one): one for one in averaged}
        names = {name_of(one) for one in averaged}
        for one in global_variables():
            if name_of(one) not in names:
                found.setdefault(name_of(one), one)
        return found

    def _kept(self) -> "list[_Average]":
        graph = current_graph()
        return self._averages if graph is None else graph.kept.setdefault(self, [])

    def _find(self, of: Any) -> "_Average | None":
        holder = holder_of(of)
        return next((one for one in self._kept() if one.of is holder), None)

    def _average_of(self, of: Any) -> "_Average":
        known = self._find(of)
        if known is not None:
            return known
        graph, variable = current_graph() or self._outside, is_variable(of)
        if not variable and (graph is self._outside or not isinstance(of, jax.Array)):
            raise TypeError(
                "tf.train.ExponentialMovingAverage averages variables, and in a model function tensors, but got "
                f"{of!r}. Make it a variable: tf.Variable(value)."
            )
        value = value_of(of) if variable else of
        if not jnp.issubdtype(value.dtype, jnp.floating):
            raise TypeError(
                f"The variables must be half, float, or double, but {of!r} is {value.dtype}. Convert it: "
                "tf.cast(value, tf.float32)."
            )
        beside: Any = of if variable else _name_in(graph, of)
        start = functools.partial(value_outside, of) if variable else functools.partial(_zeros, of)
        held = make_slot(graph, beside, self._name, start)
        counted = None
        if variable:
            graph.collections[GraphKeys.MOVING_AVERAGE_VARIABLES].append(of)
            graph.copies.append((held, of))
        elif self._zero_debias:
            counted = (
                make_slot(graph, name_of(held), "biased", start),
                make_slot(graph, name_of(held), "local_step", _zero),
            )
        made = _Average(holder_of(of), held, counted)
        self._kept().append(made)
        return made


class _Average(Searched):
    """The average of one variable or tensor.

    Attributes:
        of: the variable or tensor.
        held: the average.
        counted: of a tensor, the average that is not corrected, and the number of updates; None without correction.
    """

    def __init__(self, of: Any, held: Variable, counted: tuple[Variable, Variable] | None) -> None:
        self.of, self.held, self.counted = of, held, counted

    def update(self, part: jax.Array) -> None:
        """Replaces a part of the average by the value of now."""
        value = value_of(self.of) if is_variable(self.of) else _mean(self.of)
        target, steps = self.counted or (self.held, None)
        before = target.value()
        change = (before - value) * part.astype(before.dtype)
        write(target, before - change, Update(target, "subtract", change))
        if steps is not None:
            count = steps.value() + 1
            write(steps, count, Update(steps, "add", jnp.ones_like(count)))
            corrected = (before - change) / (1 - (1 - part) ** count).astype(before.dtype)
            write(self.held, corrected)


def _mean(tensor: jax.Array) -> jax.Array:
    """Averages a tensor over the replicas."""
    return all_reduce(tensor, "mean") if in_replica() else tensor


def _name_in(graph: Graph, tensor: jax.Array) -> str:
    """Returns the name of a tensor of a model function, without the number of an output."""
    names = (name for name, one in graph.tensors.items() if one is tensor)
    return next(names, "Tensor").removesuffix(":0")


def _zeros(tensor: jax.Array) -> jax.Array:
    return jnp.zeros(tensor.shape, tensor.dtype)


def _zero() -> jax.Array:
    return jnp.zeros((), jnp.float32)
