"""What an optimizer does to one variable, and to all of them: here, or on parameter servers."""

import dataclasses
import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.slots import value_of, write
from frontends.tf.compat.v1.train.update_rule import UpdateRule
from frontends.tf.indexed_slices import IndexedSlices, summed
from frontends.tf.variable import Variable
from spmd.replica import current_frame
from spmd.state import Update, is_backed, update_by_rule


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """The update of one variable.

    Attributes:
        holder: the variable.
        gradient: of its shape, or some of its rows: then most rules leave the others as they are.
        slots: of the variable.
        rule: makes new values of them.
    """

    holder: VariableLike
    gradient: jax.Array | IndexedSlices
    slots: list[Variable]
    rule: UpdateRule

    def apply(self, scalars: Sequence[jax.Array]) -> None:
        """Writes the new values."""
        variables = (self.holder, *self.slots)
        before = [value_of(self.holder), *(slot.value() for slot in self.slots)]
        if isinstance(self.gradient, IndexedSlices) and not self.rule.formula.updates_all_rows:
            after = self._with_rows(self.gradient, before, scalars)
        else:
            value, *slots = before
            new, others = self.rule.update(value, slots, (jnp.asarray(self.gradient), *scalars))
            after = [new, *others]
        for variable, value in zip(variables, after, strict=True):
            write(variable, value)

    def _with_rows(
        self, gradient: IndexedSlices, before: Sequence[jax.Array], scalars: Sequence[jax.Array]
    ) -> list[jax.Array]:
        """Computes the rows that have a gradient, and puts them in the place of those before.

        The arrays are not copied if the step may overwrite them, so this takes as long for any number of other rows.
        """
        count = before[0].shape[0]
        numbers = jnp.asarray(gradient.indices)
        numbers = jnp.where((numbers < 0) | (numbers > count), count, numbers)
        # No row twice: their gradients are added up first. The number behind the last row is none.
        size = min(numbers.size, count + 1)
        numbers, places = jnp.unique(numbers, size=size, fill_value=count, return_inverse=True)
        summed_rows = jax.ops.segment_sum(jnp.asarray(gradient.values), places.reshape(-1), size)
        value, *slots = (one.at[numbers].get(mode="clip") for one in before)
        new, others = self.rule.update(value, slots, (summed_rows, *scalars))
        return [
            old.at[numbers].set(
                rows.astype(old.dtype), mode="drop", indices_are_sorted=True, unique_indices=True
            )
            for old, rows in zip(before, (new, *others), strict=True)
        ]

    def as_update(self, scalars: Sequence[jax.Array]) -> Update:
        """Describes it to parameter servers, which change all rows."""
        gradient = jnp.asarray(self.gradient)
        return Update(self.holder, "apply", (gradient, *scalars), detail=self.rule)


def apply_changes(changes: list[Change], scalars: list[jax.Array], sums: bool) -> None:
    """Updates variables, here or on parameter servers."""
    if sums:
        gradients = summed([change.gradient for change in changes])
        changes = [
            dataclasses.replace(change, gradient=gradient)
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
