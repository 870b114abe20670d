"""Which entries of an axis a mask took."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from frontends.tf.ops.operand_errors import OperandError

_ADVICE = (
    "how many these are is known only when the program runs, and programs have fixed shapes. Functions of tf that compute entry by "
    "entry, reductions such as tf.reduce_mean and tf.reduce_max, tf.gather, tf.concat, tf.matmul and their like do. Elsewhere "
    "keep the shape: tf.where(mask, x, 0), or weigh a sum with tf.cast(mask, x.dtype)."
)


class SelectionError(OperandError):
    """A function cannot be called on entries whose number only the running program knows."""

    def __init__(self, what: str) -> None:
        """Says what was called."""
        super().__init__(
            f"{what} does not work on the entries that a mask took in a program (tf.boolean_mask, x[mask], "
            f"tf.where(condition)): {_ADVICE}"
        )


class Selection:
    """Which entries of an axis count.

    Attributes:
        valid: a boolean for each entry.
        mask: the array of which it was made, by which selections are known to be the same; None if there is none.
        unfit: a boolean, True where several masks took numbers of entries that do not fit together; None if one mask took them.
    """

    def __init__(self, valid: Any, mask: Any = None, unfit: Any = None) -> None:
        """Describes an axis."""
        self.valid, self.mask, self.unfit = valid, mask, unfit

    @property
    def size(self) -> int:
        """How many entries there are, with those that do not count."""
        return self.valid.shape[0]

    def count(self, dtype: Any = jnp.int32) -> Any:
        """Counts the entries that count."""
        return jnp.sum(self.valid, dtype=dtype)

    def same(self, other: "Selection") -> bool:
        """Tells whether both are known to take the same entries."""
        return self is other or (self.mask is not None and self.mask is other.mask)


class Marked(NamedTuple):
    """An array, and for each axis the selection; None where all entries count.

    Attributes:
        array: all entries.
        marks: for each axis, what counts.
        repeated: axes along which the function that is being called repeated what has one entry there.
    """

    array: Any
    marks: tuple[Selection | None, ...]
    repeated: frozenset[int] = frozenset()

    def with_mark(self, axis: int, mark: Selection | None) -> "Marked":
        """Returns the array with another selection of one axis."""
        return self._replace(marks=(*self.marks[:axis], mark, *self.marks[axis + 1 :]))


def unmarked(array: Any) -> Marked:
    """Marks nothing of an array."""
    return Marked(array, (None,) * jnp.ndim(array))


def compacted(value: Marked, axis: int) -> Marked:
    """Moves the entries of an axis that count to its beginning, in their order."""
    selection = value.marks[axis]
    if selection is None:
        return value
    order = jnp.argsort(~selection.valid, stable=True)
    first = Selection(jnp.arange(selection.size) < selection.count(), unfit=selection.unfit)
    return value._replace(array=jnp.take(value.array, order, axis=axis)).with_mark(axis, first)


def filled(value: Marked, neutral: Any) -> Any:
    """Replaces the entries that do not count; no gradient comes to them, not even NaN."""
    array = value.array
    for axis, selection in enumerate(value.marks):
        if selection is not None:
            shape = [1] * array.ndim
            shape[axis] = selection.size
            array = jnp.where(
                selection.valid.reshape(shape), array, jnp.asarray(neutral, array.dtype)
            )
    return array
