"""The one file that touches JAX internals; tests/spmd/test_jax_internals.py runs on every version.

Each function says which internal it stands for.
"""

from typing import Any

from jax._src import core, xla_bridge

from spmd.source_lines import is_user_file


def backend_is_running() -> bool:
    """Tells whether JAX has started a backend, without starting one.

    Stands for `jax._src.xla_bridge.backends_are_initialized`, which has no public name.
    """
    return xla_bridge.backends_are_initialized()


def is_tracing() -> bool:
    """Tells whether JAX is tracing on this thread.

    Stands for `jax._src.core.trace_state_clean`, which has no public name.
    """
    return not core.trace_state_clean()


def user_line(equation: Any) -> str | None:
    """Finds the user's line that an equation of a jaxpr came from.

    Stands for `equation.source_info.traceback`, an attribute with no public reader.

    Args:
        equation: a `jax.extend.core.JaxprEqn`.

    Returns:
        `"file.py:12 (function)"` of the innermost frame outside of libraries and of this package, or
        None.
    """
    traceback = getattr(equation.source_info, "traceback", None)
    for frame in traceback.frames if traceback is not None else ():
        if is_user_file(frame.file_name):
            name = frame.function_name.rsplit(".", 1)[-1]
            return f"{frame.file_name}:{frame.line_num} ({name})"
    return None
