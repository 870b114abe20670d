"""What is done once another package is imported, which the front end itself does not import."""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


def after_import(
    package: str, act: Callable[[ModuleType], None], prepare: Callable[[], None] = lambda: None
) -> None:
    """Calls a function with a package: now if it is imported already, or else right after its import.

    Args:
        package: name of a package, without a dot.
        act: takes the module. It is called once, also if `after_import` is called again before the import.
        prepare: called right before the import.
    """
    imported = sys.modules.get(package)
    if imported is not None:
        act(imported)
    elif not any(
        isinstance(finder, _Finder) and finder.package == package for finder in sys.meta_path
    ):
        sys.meta_path.insert(0, _Finder(package, act, prepare))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one package through the other finders, and has functions called before and after it is executed."""

    def __init__(
        self, package: str, act: Callable[[ModuleType], None], prepare: Callable[[], None]
    ) -> None:
        self.package, self._act, self._prepare = package, act, prepare

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the spec of the package, and None for other names."""
        if fullname != self.package:
            return None
        others = (finder for finder in sys.meta_path if not isinstance(finder, _Finder))
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            self._prepare()
            execute(module)
            self._act(module)

        loader.exec_module = exec_module
        return spec
