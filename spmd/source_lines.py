"""Whose code is it: the user's, or a library's?

Messages name the innermost line that the user wrote, and a step looks for state in what the user wrote.
So both need to know which files and modules are of libraries, of this package or of a front end.
"""

import inspect
import os
import sys
import sysconfig
from types import ModuleType

# Names, because a library may be installed anywhere (a checkout, a build system's folder). One that is
# not listed is searched for state like the user's code, which costs time while tracing and no more.
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
    """Takes a package for a library: its lines are not the user's, and its code is not searched.

    A front end names itself.

    Args:
        package: with an `__init__.py`.

    Examples:
        >>> import spmd
        >>> add_library(spmd)
        >>> is_user_file(spmd.__file__), is_library("spmd.step.step")
        (False, True)
    """
    assert package.__file__ is not None  # of a package with an __init__.py
    _libraries.add(package.__name__)
    _own.append(_folder(os.path.dirname(package.__file__)))


def is_library(module: str | None) -> bool:
    """Tells whether a module is of a library, and so is not searched for state.

    Args:
        module: its full name, as in `__module__`.

    Returns:
        False also for a module of the user's that has a name of the standard library.

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


def is_user_file(path: str) -> bool:
    """Tells whether a source file is the user's: not of a library, this package or a front end.

    Args:
        path: as in a code object's `co_filename`.

    Examples:
        >>> import json
        >>> is_user_file("train.py"), is_user_file(json.__file__), is_user_file("<string>")
        (True, False, False)
    """
    return not path.startswith((*_INSTALLED, *_own, "<"))


def user_stacklevel() -> int:
    """Finds the user's frame for `warnings.warn(..., stacklevel=)`, as the caller has to give it."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level
