"""Batches of elements that differ in size, and batches of another size."""

from collections.abc import Callable, Sequence

from spmd.input.batch import in_groups
from spmd.input.pipeline.element import Batch, Element, stack
from spmd.input.pipeline.forms import Form, found_spec
from spmd.input.pipeline.padding import Padding
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.spec import batch_spec
from spmd.input.pipeline.stream import Stream, ready


def padded(form: Form, size: int, drop_remainder: bool, padding: Padding) -> Stream:
    """Stacks elements whose components differ in size.

    Args:
        form: The elements.
        size: Rows of a full batch.
        drop_remainder: Leave a smaller last batch out.
        padding: What components are padded to, and with what.
    """
    exact = isinstance(form, Rows)
    rows = size if drop_remainder else None
    return ready(
        lambda: map(padding.stack, in_groups(form.elements(), [size], drop_remainder)),
        lambda: padding.spec(form.spec(), rows, exact),
        form,
    )


def batched_by(
    form: Form,
    size: int,
    drop_remainder: bool,
    make: Callable[[Sequence[Element], bool], Batch],
) -> Stream:
    """Makes each batch with a function.

    Args:
        form: The elements.
        size: How many elements a full batch has.
        drop_remainder: Leave a smaller last batch out.
        make: Takes elements, and whether all elements of the form have the same sizes.
    """
    exact = isinstance(form, Rows)
    made = ready(
        lambda: (
            make(group, exact) for group in in_groups(form.elements(), [size], drop_remainder)
        ),
        found_spec(lambda: made),
        form,
    )
    return made


def rebatched(form: Form, sizes: Sequence[int], drop_remainder: bool) -> Form:
    """Makes batches of other sizes out of batches.

    Args:
        form: Batches.
        sizes: The new size, or several, which take turns.
        drop_remainder: Leave a smaller last batch out.
    """
    rows = form.unbatch()
    if len(sizes) == 1:
        return rows.batch(sizes[0], drop_remainder)
    return ready(
        lambda: map(stack, in_groups(rows.elements(), sizes, drop_remainder)),
        lambda: batch_spec(rows.spec(), None),
        form,
    )
