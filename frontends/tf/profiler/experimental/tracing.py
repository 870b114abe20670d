"""Traces of this process, into files that TensorBoard and Perfetto read."""

import collections
import contextlib
from types import TracebackType
from typing import Any

import jax

from frontends.tf.errors import AlreadyExistsError, UnavailableError

ProfilerOptions = collections.namedtuple(
    "ProfilerOptions",
    ["host_tracer_level", "python_tracer_level", "device_tracer_level", "delay_ms"],
    defaults=(2, 0, 1, None),
)

_RUNNING = {"trace": False}


def start(logdir: str, options: Any = None) -> None:
    """Starts a trace of what the processor and the devices do.

    Args:
        logdir: where its files go, for TensorBoard.
        options: `ProfilerOptions`, or a dictionary of them.

    Raises:
        tf.errors.AlreadyExistsError: one runs already.

    Source: `tf.profiler.experimental.start`; `jax.profiler.start_trace`.
    """
    if _RUNNING["trace"]:
        raise AlreadyExistsError(
            "Another profiler is running. End it first: tf.profiler.experimental.stop()."
        )
    chosen = ProfilerOptions(**options) if isinstance(options, dict) else options
    chosen = chosen or ProfilerOptions()
    found = jax.profiler.ProfileOptions()
    found.host_tracer_level = chosen.host_tracer_level
    found.python_tracer_level = chosen.python_tracer_level
    found.device_tracer_level = chosen.device_tracer_level
    jax.profiler.start_trace(logdir, profiler_options=found)
    _RUNNING["trace"] = True


def stop(save: bool = True) -> None:
    """Ends the trace that `start` began, and writes its files.

    What differs here: the files are written whatever `save` says.

    Raises:
        tf.errors.UnavailableError: none runs.

    Source: `tf.profiler.experimental.stop`.
    """
    if not _RUNNING["trace"]:
        raise UnavailableError(
            "Cannot export profiling results. No profiler is running. Start one: "
            "tf.profiler.experimental.start(logdir)."
        )
    _RUNNING["trace"] = False
    jax.profiler.stop_trace()


class Profile:
    """Traces what runs in a `with` block.

    Source: `tf.profiler.experimental.Profile`.
    """

    def __init__(self, logdir: str, options: Any = None) -> None:
        """Prepares a trace; see `start` for the arguments."""
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        stop()


class Trace:
    """Names what runs in a `with` block, for the trace; with `step_num=` or `_r=1`, it is a training step.

    Examples:
        >>> with Trace("train", step_num=3, _r=1):
        ...     pass

    Source: `tf.profiler.experimental.Trace`; `jax.profiler.StepTraceAnnotation`.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        """Prepares the name.

        Args:
            name: what the trace calls it.
            **kwargs: notes, such as `step_num`; `_r=1` marks a step.
        """
        is_step = kwargs.pop("_r", None) or "step_num" in kwargs
        make = jax.profiler.StepTraceAnnotation if is_step else jax.profiler.TraceAnnotation
        self._annotation: contextlib.AbstractContextManager[Any] = make(name, **kwargs)

    def __enter__(self) -> "Trace":
        self._annotation.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._annotation.__exit__(kind, error, traceback)

    def set_metadata(self, **kwargs: Any) -> None:
        """Does nothing: what a trace notes is given when it begins.

        Source: `tf.profiler.experimental.Trace.set_metadata`.
        """
