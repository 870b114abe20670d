"""Tells the user's code from that of libraries, this package and front ends.

Messages name the innermost line of the user's code, tracebacks leave out the others, and a step searches only the user's code for state.
"""

import inspect
import os
import sys
import sysconfig
from types import ModuleType, TracebackType
from typing import Any

import jax

# By name, because a library may be installed anywhere (a checkout, a build system's folder). An unlisted
# one is searched for state like the user's code, which only costs time while tracing.
_libraries = {
    "absl",
    "array_record",
    "chex",
    "einops",
    "flax",
    "grain",
    "h5py",
    "hypothesis",
    "jax",
    "jaxlib",
    "keras",
    "matplotlib",
    "numpy",
    "optax",
    "orbax",
    "pandas",
    "PIL",
    "pluggy",
    "_pytest",  # an assert in a test reaches the session, and all tests with it
    "pytest",
    "ray",
    "rich",
    "scipy",
    "sklearn",
    "spmd",
    "tensorflow",
    "tensorflow_datasets",
    "torch",
    "tqdm",
}


def _folder(path: str) -> str:
    return os.path.join(os.path.abspath(path), "")


_own = [_folder(os.path.dirname(__file__))]
_own_packages = {"spmd"}
# JAX's note on tracebacks, in its words; to shorten them once more makes no difference to users.
_JAX_NOTE = "JAX has removed its internal frames"
# The hook for uncaught errors that shortens them, if it was installed.
_shortening: list[Any] = []
_INSTALLED = tuple(
    {
        _folder(path)
        for path in (
            *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
            os.path.dirname(os.__file__),  # the standard library may be in a zip file
        )
    }
)


def add_library(package: ModuleType) -> None:
    """Registers a package as a library: its lines are not the user's, and it is not searched for state.

    Front ends register themselves.

    Args:
        package: a package with an `__init__.py`.

    Examples:
        >>> import spmd
        >>> add_library(spmd)
        >>> is_user_file(spmd.__file__), is_library("spmd.step.step")
        (False, True)
    """
    assert package.__file__ is not None  # it has an __init__.py
    _libraries.add(package.__name__)
    _own_packages.add(package.__name__)
    _own.append(_folder(os.path.dirname(package.__file__)))


def is_library(module: str | None) -> bool:
    """Tells whether a module belongs to a library, and so is not searched for state.

    Args:
        module: its full name, as in `__module__`.

    Returns:
        False also for a user's module that shadows one of the standard library.

    Examples:
        >>> is_library("jax.numpy"), is_library("queue"), is_library("__main__")
        (True, True, False)
    """
    top = (module or "").partition(".")[0]
    if top in _libraries:
        return True
    if top not in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(top), "__file__", None)
    return top != "__main__" if file is None else os.path.abspath(file).startswith(_INSTALLED)


def is_own_package(module: str | None) -> bool:
    """Tells whether a module belongs to this package, or to a front end of it.

    Args:
        module: its full name, as in `__module__`.

    Examples:
        >>> is_own_package("spmd.step"), is_own_package("jax.numpy")
        (True, False)
    """
    return (module or "").partition(".")[0] in _own_packages


def is_user_file(path: str) -> bool:
    """Tells whether a source file is the user's.

    Args:
        path: its path, as in a code object's `co_filename`.

    Examples:
        >>> import json
        >>> is_user_file("train.py"), is_user_file(json.__file__), is_user_file("<string>")
        (True, False, False)
    """
    return not path.startswith((*_INSTALLED, *_own, "<"))


def user_stacklevel() -> int:
    """Returns the `stacklevel` with which the caller's `warnings.warn` blames the innermost user's line."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def shorten_traceback(error: BaseException) -> None:
    """Takes the frames of libraries out of an error's traceback, and out of those of its causes.

    The frame that raised stays if it is this package's and the error is of another's class: then it may be a
    fault of this package. Ctrl-C is nobody's, and an error whose cause is of this package was raised elsewhere. `JAX_TRACEBACK_FILTERING=off` keeps all frames.

    Args:
        error: as it was caught.

    Examples:
        >>> error = ValueError("not raised yet")
        >>> shorten_traceback(error)
        >>> error.__traceback__ is None
        True

    Source: `jax_traceback_filtering`.
    """
    if jax.config.jax_traceback_filtering == "off":  # type: ignore[attr-defined]
        return
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = _shortened(one)
            if hasattr(one, "__notes__"):  # JAX says in one what it does
                one.__notes__[:] = [note for note in one.__notes__ if _JAX_NOTE not in note]
            waiting += [one.__cause__, one.__context__]


def shorten_uncaught() -> None:
    """Has errors that end this program be printed without the frames of libraries; a second call changes nothing.

    For a program that works in a cluster: it waits in the cluster's client most of the time, and Ctrl-C would show pages
    of that. `JAX_TRACEBACK_FILTERING=off` keeps all frames.
    """
    before = sys.excepthook
    if _shortening == [before]:
        return

    def show(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        shorten_traceback(error)
        before(kind, error, error.__traceback__)

    _shortening[:] = [show]
    sys.excepthook = show


def _shortened(error: BaseException) -> TracebackType | None:
    frames: list[TracebackType] = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    names = [frame.tb_frame.f_globals.get("__name__") for frame in frames]
    kept = [frame for frame, name in zip(frames, names, strict=True) if not is_library(name)]
    may_be_ours = not (
        isinstance(error, KeyboardInterrupt)
        or is_own_package(type(error).__module__)
        or is_own_package(type(error.__cause__).__module__)
    )
    if names and is_own_package(names[-1]) and may_be_ours:
        kept.append(frames[-1])
    for frame in reversed(kept):
        traceback = TracebackType(traceback, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return traceback
