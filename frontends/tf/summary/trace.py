"""`trace_on`, `trace_export` and `trace_off`: profiles of what runs between two lines of a script.

XLA's programs are none of TensorFlow's graphs, so `graph=True` records nothing.
"""

import tempfile

import jax

from frontends.tf._typing import TensorLike
from spmd.typing import StrPath

_profiling = False


def trace_on(
    graph: bool = True, profiler: bool = False, profiler_outdir: StrPath | None = None
) -> None:
    """Starts a profile, if `profiler` is true. There is one at a time, in the whole process.

    Args:
        graph: Ignored: there is no graph to record.
        profiler: Whether to profile what runs from here on.
        profiler_outdir: The directory that the profile is written to; a temporary one if None. JAX decides it here,
            so the one that `trace_export` is given has no effect.

    Raises:
        RuntimeError: A profile runs already.

    Source: `tf.summary.trace_on`.
    """
    global _profiling
    if profiler:
        jax.profiler.start_trace(profiler_outdir or tempfile.mkdtemp())
        _profiling = True


def trace_export(
    name: str, step: TensorLike | None = None, profiler_outdir: StrPath | None = None
) -> None:
    """Writes the profile that `trace_on` started, and ends it.

    Args:
        name: Ignored: there is no graph to write under this name.
        step: Ignored, likewise.
        profiler_outdir: Ignored: `trace_on` names the directory.

    Source: `tf.summary.trace_export`.
    """
    trace_off()


def trace_off() -> None:
    """Ends the profile that `trace_on` started, if there is one.

    Source: `tf.summary.trace_off`.
    """
    global _profiling
    if _profiling:
        _profiling = False
        jax.profiler.stop_trace()
