"""The one file that touches JAX internals; tests/spmd/test_jax_internals.py runs on every version.

Each function says which internal it stands for.
"""

import inspect
import os
import sysconfig
from typing import Any

from jax._src import core, xla_bridge

_hidden = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "")]
_LIBRARIES = tuple(
    {
        os.path.join(sysconfig.get_path(name), "")
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
)


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


def is_user_file(path: str) -> bool:
    """Tells whether a source file is the user's: not of a library, this package or a front end."""
    return not path.startswith((*_LIBRARIES, *_hidden, "<"))


def hide_directory(path: str) -> None:
    """Leaves a package out when the user's line is looked for; a front end names itself.

    Args:
        path: the package's directory.
    """
    _hidden.append(os.path.join(path, ""))


def user_stacklevel() -> int:
    """Finds the user's frame for `warnings.warn(..., stacklevel=)`, as the caller has to give it."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level
