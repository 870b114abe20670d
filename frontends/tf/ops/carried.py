"""The engine's branches and loops, for code that hands on a `tf.TensorArray`.

Loops of a program carry arrays of fixed shape, but of an empty TensorArray neither the shape of its elements is known
nor, if it grows, their number. What the body does with it tells both. So where a turn changes the form in which an
array is held, tracing begins anew, with the array in the form that the turn left.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.gradient_sources import is_below_plain
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.map_stream import drawing_in_branch
from frontends.tf.ops.tensor_array import UNKNOWN, Form, TensorArray, Writes
from frontends.tf.ops.turns import Place, in_loop, next_place, tracing_part
from spmd import step

# A list gets a shape, then rows, then room, then a length that changes; more changes mean that there is no end.
_ATTEMPTS = 12


class TraceAgain(Exception):
    """A body or branch hands on something else than it was traced with: tracing begins anew.

    Attributes:
        forms: in which the TensorArrays are to be held; None leaves them.
    """

    def __init__(self, forms: list[Form] | None) -> None:
        super().__init__("a loop or branch is traced once more")
        self.forms = forms


def is_tensor_array(value: object) -> bool:
    """Tells whether a value is a `tf.TensorArray`."""
    return isinstance(value, TensorArray)


def as_arrays(tree: Nested) -> Any:
    """Makes arrays of the leaves of a structure; None and TensorArrays stay."""

    def convert(leaf: TensorLike) -> Any:
        return leaf if isinstance(leaf, TensorArray) else convert_to_tensor(leaf)

    return jax.tree.map(convert, tree, is_leaf=is_tensor_array)


def switch(index: TensorLike, branches: Sequence[Callable[[], Nested]]) -> Any:
    """Runs one of several functions of a program; see `spmd.step.switch`.

    Args:
        index: int32 scalar.
        branches: functions that return structures of arrays.
    """

    def run(forms: list[Form] | None) -> Any:
        seen: list[list[Form]] = []

        def traced(branch: Callable[[], Nested]) -> Callable[[], Any]:
            def call() -> Any:
                out = as_arrays(branch())
                out = out if forms is None else held_as(out, forms)
                seen.append(forms_of(out))
                if len(seen) == len(branches):
                    agree(seen)
                return out

            return call

        calls = [drawing_in_branch(traced(branch)) for branch in branches]
        return step.switch(jnp.asarray(index, jnp.int32), calls)

    return settled(run)


def cond(pred: TensorLike, true_fn: Callable[[], Nested], false_fn: Callable[[], Nested]) -> Any:
    """Runs one of two functions of a program; see `spmd.step.cond`.

    Args:
        pred: bool scalar.
        true_fn: returns a structure of arrays.
        false_fn: likewise.
    """
    truth = jnp.asarray(pred).astype(bool).reshape(())
    return switch(truth.astype(jnp.int32), [false_fn, true_fn])


def while_loop(
    test: Callable[[Nested], TensorLike],
    body: Callable[[Nested], tuple[Nested, Nested]],
    carry: Nested,
    *,
    bound: int | None = None,
    turns: int | None = None,
) -> tuple[Any, Any]:
    """Repeats a function of a program while a test holds; see `spmd.step.while_loop`.

    Args:
        test: takes the carry, returns a bool scalar.
        body: takes the carry, returns the next one, and other arrays.
        carry: structure of arrays.
        bound: how often the body runs at most, for the gradient.
        turns: how often the body runs at most, as far as anyone knows; None takes `bound`.
    """

    def run(forms: list[Form] | None) -> Any:
        def checked(now: Nested) -> tuple[Any, Any]:
            with in_loop(bound if turns is None else turns):
                new, other = body(now)
            return handed_on(now, new), other

        return step.while_loop(test, checked, held_as(carry, forms), bound=bound)

    return settled(run)


def scan(
    body: Callable[[Nested, Nested], tuple[Nested, Nested, Nested]],
    carry: Nested,
    rows: Nested,
    *,
    test: Callable[[Nested], TensorLike] | None = None,
    reverse: bool = False,
) -> tuple[Any, Any, Any]:
    """Calls a function of a program with every row of arrays; see `spmd.step.scan`.

    Args:
        body: takes the carry and a row, returns the next carry, other arrays, and arrays to stack.
        carry: structure of arrays.
        rows: structure of arrays with as many rows each.
        test: takes the carry, returns whether to go on.
        reverse: whether to begin with the last row.
    """
    count = len(jax.tree.leaves(rows)[0])
    counts = counts_up(rows)
    writes: list[Writes] = []

    def run(forms: list[Form] | None) -> Any:
        def checked(now: Nested, row: Nested) -> tuple[Any, Any, Any]:
            with in_loop(count, row if counts else None):
                new, other, stacked = body(now, row)
            writes[:] = [array.writes for array in tensor_arrays(new)]
            return handed_on(now, new), other, stacked

        return step.scan(checked, held_as(carry, forms), rows, test=test, reverse=reverse)

    last, other, stacked = settled(run)
    if test is None:
        for before, after, kinds in zip(
            tensor_arrays(carry), tensor_arrays(last), writes, strict=True
        ):
            after.settle_length(before, kinds, count)
    return last, other, stacked


def settled(run: Callable[[list[Form] | None], Any]) -> Any:
    """Traces until TensorArrays keep their form.

    Args:
        run: takes the forms in which the TensorArrays are to be held, None at first; traces, and raises `TraceAgain`
            to be called again.

    Returns:
        What `run` returned.

    Raises:
        ValueError: there is no end to it.
    """
    forms: list[Form] | None = None
    place = next_place()
    for _ in range(_ATTEMPTS):
        try:
            with tracing_part(place):
                found = run(forms)
        except TraceAgain as changed:
            forms = changed.forms
        else:
            ends_region(found)
            return found
    raise ValueError(
        f"A TensorArray changes at every turn of a loop: {forms}. Make it with a size that does not change, "
        "tf.TensorArray(dtype, size=n), and write elements of one shape."
    )


def ends_region(found: Nested) -> None:
    """Takes note that TensorArrays come out of a branch or loop, of whose writes nothing is known outside."""
    for array in tensor_arrays(found):
        array.writes = (UNKNOWN,)


def agree(seen: Sequence[list[Form]]) -> None:
    """Checks that TensorArrays come out of all branches in the same form.

    Args:
        seen: for each branch, their forms.

    Raises:
        TraceAgain: they do not; tells the form that they can have alike.
        ValueError: there is none.
    """
    if len(set(map(len, seen))) == 1:
        joined = [joined_form(column) for column in zip(*seen, strict=True)]
        if any(one != joined for one in seen):
            raise TraceAgain(joined)


def handed_on(now: Nested, new: Nested) -> Any:
    """Holds the TensorArrays that a turn leaves as the next one expects them.

    Args:
        now: what the turn began with.
        new: what it leaves.

    Raises:
        TraceAgain: it must begin with another form.
    """
    before, after = forms_of(now), forms_of(new)
    if len(before) != len(after):
        return new  # the engine says that the structure changes
    joined = [joined_form(pair) for pair in zip(before, after, strict=True)]
    if joined != before:
        raise TraceAgain(joined)
    return held_as(new, joined)


def joined_form(forms: Sequence[Form]) -> Form:
    """Finds the form that TensorArrays can be held in alike."""
    first = forms[0]
    if all(form == first for form in forms):
        return first
    shapes = {form.shape for form in forms if form.shape is not None and None not in form.shape}
    if len(shapes) != 1:
        raise ValueError(
            "Branches or turns of a loop write elements of different shapes to a TensorArray: "
            f"{', '.join(map(str, sorted(shapes))) or 'unknown'}. Pad them to one shape, or say it: "
            "tf.TensorArray(..., element_shape=[...])."
        )
    lengths = {form.length for form in forms}
    return Form(
        None,
        max(form.capacity for form in forms),
        shapes.pop(),
        lengths.pop() if len(lengths) == 1 else None,
        frozenset[Place]().union(*(form.reserved for form in forms)),
    )


def tensor_arrays(tree: Nested) -> list[TensorArray]:
    """Lists the TensorArrays in lists, tuples and dictionaries."""
    leaves = jax.tree.leaves(tree, is_leaf=is_below_plain)
    return [leaf for leaf in leaves if isinstance(leaf, TensorArray)]


def forms_of(tree: Nested) -> list[Form]:
    """Lists the forms of the TensorArrays in a structure."""
    return [array.form for array in tensor_arrays(tree)]


def held_as(tree: Nested, forms: list[Form] | None) -> Any:
    """Holds the TensorArrays of a structure in other forms; None leaves them."""
    if forms is None:
        return tree
    rest = iter(forms)

    def hold(leaf: Any) -> Any:
        return leaf.held_as(next(rest)) if isinstance(leaf, TensorArray) else leaf

    return jax.tree.map(hold, tree, is_leaf=is_below_plain)


def counts_up(rows: Nested) -> bool:
    """Tells whether the rows are 0, 1, 2 and so on."""
    if isinstance(rows, Tracer) or not isinstance(rows, jax.Array | np.ndarray):
        return False
    return np.array_equal(rows, np.arange(len(rows)))
