"""What happens to a `tf.function` that is no program: it reads a dataset, or Python tells it shapes.

A compiled program cannot take elements from Python iterators: an element read in the trace would become a
constant. So the trace is abandoned before anything is read, and the function runs as Python. The same happens
where a function of Python returns arrays to the program, and nobody says of which shape; where arrays grow in a
loop whose `shape_invariants` say so; and where a mask, a slice or a `tf.TensorArray` has as many entries as only the
running program knows.
"""

import contextvars
from contextlib import AbstractContextManager

from spmd.assigned import assigned
from spmd.errors import TraceAbandoned
from spmd.replica import Frame, current_frame

_TRACING: contextvars.ContextVar[bool] = contextvars.ContextVar("tf_function", default=False)

_ON_HOST: contextvars.ContextVar[bool] = contextvars.ContextVar("map_on_host", default=False)


class DatasetReadDuringTrace(TraceAbandoned):
    """A function reads a dataset while it is traced, outside of the replicas' functions."""


class ShapeUnknownDuringTrace(DatasetReadDuringTrace):
    """A function has arrays whose shape only the running program knows, outside of the replicas' functions.

    Attributes:
        advice: what the array is, and how to make a program of the function, as sentences.
    """

    def __init__(self, advice: str) -> None:
        super().__init__(advice)
        self.advice = advice


def traced_function() -> AbstractContextManager[bool]:
    """Marks a block in which a `tf.function` traces a function that it can also run as Python."""
    return assigned(_TRACING, True)


def in_traced_function() -> bool:
    """Tells whether a `tf.function` is being traced on this thread."""
    return _TRACING.get()


def map_on_host(traced: bool) -> AbstractContextManager[bool]:
    """Marks a call of a dataset's function: on an element, or traced."""
    return assigned(_ON_HOST, not traced)


def in_map_on_host() -> bool:
    """Tells whether a dataset's function runs on an element, uncompiled, on this thread."""
    return _ON_HOST.get()


def check_may_read() -> None:
    """Checks that an iterator may start; must be called before it reads anything.

    Raises:
        DatasetReadDuringTrace: a `tf.function` is being traced, and this is not a replica's function.
    """
    if _is_own_trace():
        raise DatasetReadDuringTrace


def run_as_python(advice: str) -> None:
    """Ends the trace of a function that can run as Python instead, where shapes come with the arrays.

    Args:
        advice: see `ShapeUnknownDuringTrace`.

    Raises:
        ShapeUnknownDuringTrace: as for `check_may_read`.
    """
    if _is_own_trace():
        raise ShapeUnknownDuringTrace(advice)


def _is_own_trace() -> bool:
    """Tells whether a `tf.function` is being traced, and not a replica's function in it."""
    frame = current_frame()
    return frame is not None and _TRACING.get() and not (frame.in_replica or frame.merging)


def check_may_advance(made_in: Frame | None) -> None:
    """Checks that an iterator may hand out an element.

    Args:
        made_in: the frame in which the iterator was made.

    Raises:
        DatasetReadDuringTrace: as for `check_may_read`.
        ValueError: the iterator was made outside of the replica's function that reads it.
    """
    check_may_read()
    frame = current_frame()
    if frame is not None and frame is not made_in:
        raise ValueError(
            "An iterator of a dataset was asked for an element inside a replica's function, which would "
            "keep this one element forever. Take it outside, and pass it:\n"
            "    for batch in dataset:\n"
            "        strategy.run(train_step, args=(batch,))"
        )
