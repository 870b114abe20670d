"""Batches of elements that differ in size, and batches of another size."""

from collections.abc import Sequence

from spmd.input.batch import in_groups
from spmd.input.pipeline.element import stack
from spmd.input.pipeline.forms import Form
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
