"""What becomes of a `tf.function` that asks a dataset for elements while it is traced.

A compiled program takes no elements out of Python iterators: what it asked for in the trace, it would
keep for ever. So the trace is abandoned before anything was taken, and the function runs as Python.
"""

import contextlib
import contextvars
from collections.abc import Generator

from spmd.replica import Frame, current_frame

_TRACING: contextvars.ContextVar[bool] = contextvars.ContextVar("tf_function", default=False)


class ElementAsked(BaseException):
    """A function that is traced asks a dataset for elements, between the replicas.

    No Exception: code that waits for the end of the data, or for anything, shall not catch it.
    """


@contextlib.contextmanager
def traced_function() -> Generator[None]:
    """Says that a function called in the block is traced by a `tf.function`, which can run it as Python."""
    token = _TRACING.set(True)
    try:
        yield
    finally:
        _TRACING.reset(token)


def before_element() -> None:
    """Must be called before an iterator starts, or takes anything.

    Raises:
        ElementAsked: a `tf.function` is being traced, and this code is no replica's.
    """
    frame = current_frame()
    if frame is not None and _TRACING.get() and not (frame.in_replica or frame.merging):
        raise ElementAsked


def before_next(made_in: Frame | None) -> None:
    """Must be called before an iterator gives an element.

    Args:
        made_in: the frame in which the iterator was made.

    Raises:
        ElementAsked: as for `before_element`.
        ValueError: the iterator was made outside of the replica's function that asks.
    """
    before_element()
    frame = current_frame()
    if frame is not None and frame is not made_in:
        raise ValueError(
            "An iterator of a dataset was asked for an element inside a replica's function, which would "
            "keep this one element for ever. Take it outside, and pass it:\n"
            "    for batch in dataset:\n"
            "        strategy.run(train_step, args=(batch,))"
        )
