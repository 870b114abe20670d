"""What an optimizer does to one variable, and to all of them: here, or on parameter servers."""

import dataclasses
import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.slots import value_of, write
from frontends.tf.compat.v1.train.formulas import Formula
from frontends.tf.compat.v1.train.update_rule import UpdateRule
from frontends.tf.indexed_slices import IndexedSlices
from frontends.tf.variable import Variable
from spmd.replica import all_reduce, current_frame, in_replica, sum_gradients
from spmd.state import Update, is_backed, update_by_rule


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """The update of one variable.

    Attributes:
        holder: the variable.
        gradient: of its shape.
        rows: which of its rows change, a bool for each; None means all.
        slots: of the variable.
        rule: makes new values of them.
    """

    holder: VariableLike
    gradient: jax.Array
    rows: jax.Array | None
    slots: list[Variable]
    rule: UpdateRule

    def apply(self, scalars: Sequence[jax.Array]) -> None:
        """Writes the new values."""
        before = [value_of(self.holder), *(slot.value() for slot in self.slots)]
        value, *slots = before
        new, others = self.rule.update(value, slots, (self.gradient, *scalars))
        for variable, old, value in zip(
            (self.holder, *self.slots), before, (new, *others), strict=True
        ):
            if self.rows is not None:
                value = jnp.where(self.rows.reshape(-1, *[1] * (old.ndim - 1)), value, old)
            write(variable, value)

    def as_update(self, scalars: Sequence[jax.Array]) -> Update:
        """Describes it to parameter servers, which change all rows."""
        return Update(self.holder, "apply", (self.gradient, *scalars), detail=self.rule)


def apply_changes(changes: list[Change], scalars: list[jax.Array], sums: bool) -> None:
    """Updates variables, here or on parameter servers."""
    if sums and in_replica():
        gradients = sum_gradients([change.gradient for change in changes])
        changes = [
            dataclasses.replace(change, gradient=gradient, rows=_of_any_replica(change.rows))
            for change, gradient in zip(changes, gradients, strict=True)
        ]

    def compute(some: list[Change]) -> None:
        for change in some:
            change.apply(scalars)

    frame = current_frame()
    building = frame is not None and frame.building
    there = [] if building else [one for one in changes if is_backed([one.holder])]
    compute([one for one in changes if one not in there])
    if there:
        update_by_rule([one.as_update(scalars) for one in there], functools.partial(compute, there))


def _of_any_replica(rows: jax.Array | None) -> jax.Array | None:
    return None if rows is None else all_reduce(rows.astype(jnp.float32), "sum") > 0


def dense(
    slices: IndexedSlices, holder: VariableLike, formula: Formula
) -> tuple[jax.Array, jax.Array | None]:
    """Makes a gradient of some rows one of all, and tells which rows are to change; None for all."""
    value = value_of(holder)
    indices, values = jnp.asarray(slices.indices), jnp.asarray(slices.values, value.dtype)
    whole = jnp.zeros_like(value).at[indices].add(values)
    if formula.updates_all_rows:
        return whole, None
    return whole, jnp.zeros(value.shape[0], bool).at[indices].set(True)
