"""The one file that touches JAX internals; tests/spmd/test_jax_internals.py runs on every version.

Each function says which internal it stands for, and what to use once JAX makes it public.
"""

import os
import sysconfig
from typing import Any

from jax._src import xla_bridge

_HERE = os.path.dirname(os.path.abspath(__file__))
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
    """Tells whether a source file is the user's: not of a library, not of this package."""
    return (
        not path.startswith(_LIBRARIES)
        and not path.startswith(os.path.join(_HERE, ""))
        and not path.startswith("<")
    )
