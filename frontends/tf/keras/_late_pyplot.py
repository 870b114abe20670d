"""Matplotlib, imported when Keras first draws.

Keras imports pyplot at once, for two functions that draw galleries. That takes a third of the time of its own import.
"""

import contextlib
import importlib
import sys
import threading
from collections.abc import Generator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_PACKAGE = "matplotlib"
_CHILDREN = ("patches", "pyplot")  # what `keras.visualization` imports of it

_lock = threading.Lock()


class _Late(ModuleType):
    """Stands for a module of Matplotlib, which it imports when one of its names is first looked up."""

    def __getattr__(self, name: str) -> Any:
        _withdraw()
        return getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def pyplot_when_used() -> Generator[None]:
    """Keeps Keras from importing pyplot inside the block.

    Afterwards whoever imports Matplotlib gets Matplotlib. Another thread that imports pyplot during the block may get a module
    that looks its names up there. Does nothing where Matplotlib is imported already, or not installed.

    Examples:
        >>> with pyplot_when_used():
        ...     import keras
        >>> callable(keras.visualization.plot_image_gallery)
        True
    """
    spec = None if _PACKAGE in sys.modules else find_spec(_PACKAGE)
    if spec is None:
        yield
        return
    package = _Late(_PACKAGE)
    package.__path__ = spec.submodule_search_locations or []
    children = {name: _Late(f"{_PACKAGE}.{name}") for name in _CHILDREN}
    vars(package).update(children)
    with _lock:
        for each in (package, *children.values()):
            sys.modules.setdefault(each.__name__, each)
    try:
        yield
    finally:
        _withdraw()


def _withdraw() -> None:
    """Takes the stand-ins out of Python's modules, so that an import finds the real ones."""
    with _lock:
        for name in (_PACKAGE, *(f"{_PACKAGE}.{child}" for child in _CHILDREN)):
            if isinstance(sys.modules.get(name), _Late):
                del sys.modules[name]
