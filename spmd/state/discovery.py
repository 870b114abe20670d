"""Finding the state of a step: which models, optimizers and variables can a function reach?

A step may close over its state, as a TensorFlow step does. So the engine looks where Python code can
look: cells of closures, globals that the code names, default arguments, attributes of bound objects,
containers, and the functions found on the way. Code of libraries is not searched.

The ways that led to state are watched (`watch`): if a name or an attribute is bound to another object
later (a notebook's cell run again), the programs made before are stale.
"""

import dis
import functools
import itertools
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from spmd.source_lines import is_library
from spmd.state.adapter import Adapter
from spmd.state.deferred import apply_pending
from spmd.state.registry import adapter_of
from spmd.state.searched import Searched
from spmd.state.table import StateTable
from spmd.state.watch import PLAIN, Watch, cell_contents
from spmd.typing import Stateful

_ATOMS = (*PLAIN, np.ndarray, np.generic, jax.Array, type)
# Containers of Python itself: looking into others may read a data set.
_MAPPINGS = (dict, types.MappingProxyType)
_CONTAINERS = (list, tuple, set, frozenset, deque)
_LIMIT = 100_000


def discover(
    function: Callable[..., object], extra: Sequence[tuple[str, Stateful]] = ()
) -> tuple[StateTable, Watch]:
    """Finds all state that a function can reach.

    Args:
        function: the function of a step, or any callable.
        extra: more objects to search, with names: arguments, or what the user named.

    Returns:
        All variables; and the places through which they were reached, with plain values that the code may read.
    """
    # A restored checkpoint may hold values of variables that were made since.
    apply_pending()
    search = _Search()
    for name, thing in extra:
        search.visit(thing, name)
    search.visit(function, getattr(function, "__name__", "step"))
    search.run()
    table = StateTable(search.things, list(search.variables.values()))
    table.watch(search.watch)
    search.watch_ways()
    return table, search.watch


class _Search:
    """A walk over the objects that a function can reach; each is visited once."""

    def __init__(self) -> None:
        self.things: list[Any] = []
        self.variables: dict[int, tuple[str, Any, Adapter]] = {}
        self.watch = Watch()
        # How each object was reached: from which others, and through which place, if it can change.
        self._ways: dict[int, list[tuple[int, Any, Any]]] = {}
        self._current = 0
        self._objects: list[dict[str, Any]] = []
        # Names that the code found so far uses, and methods whose name it does not use yet.
        self._used: set[str] = set()
        self._unused: dict[str, list[tuple[types.FunctionType, str]]] = {}
        self._queue: list[tuple[Any, str]] = []
        self._seen: dict[int, Any] = {}

    def visit(self, thing: Stateful, name: str, place: object = None, key: object = None) -> None:
        if isinstance(thing, _ATOMS):
            return
        self._ways.setdefault(id(thing), []).append((self._current, place, key))
        if id(thing) not in self._seen:
            # Kept alive for as long as the search runs: an id may be used again otherwise.
            self._seen[id(thing)] = thing
            self._queue.append((thing, name))

    def run(self) -> None:
        for thing, name in itertools.islice(self._queue, _LIMIT):  # grows while it is read
            self._current = id(thing)
            self._look_at(thing, name)

    def watch_ways(self) -> None:
        """Watches the ways that led to state, and plain values that the code may read on the way."""
        for attributes in self._objects:
            for key, value in attributes.items():
                if key in self._used and isinstance(value, PLAIN):
                    self.watch.item(attributes, key)
        to_follow = [id(thing) for thing in self.things]
        followed: set[int] = set()
        while to_follow:
            here = to_follow.pop()
            if here in followed:
                continue
            followed.add(here)
            for origin, place, key in self._ways.get(here, ()):
                to_follow.append(origin)
                if isinstance(place, (dict, list)):
                    self.watch.item(place, key)
                    self.watch.length(place)
                elif place is not None:
                    self.watch.attribute(place, key)

    def _look_at(self, thing: Stateful, name: str) -> None:
        adapter = adapter_of(thing)
        if adapter is not None:
            self._collect(thing, name, adapter)
        elif isinstance(thing, types.FunctionType):
            self._function(thing)
        elif isinstance(thing, types.MethodType):
            owner = name.rpartition(".")[0] or type(thing.__self__).__name__
            self.visit(thing.__self__, owner)
            self.visit(thing.__func__, name)
        elif isinstance(thing, functools.partial):
            self.visit(thing.func, name)
            self.visit(thing.args, f"{name}.args")
            self.visit(thing.keywords, f"{name}.keywords")
        elif isinstance(thing, _MAPPINGS) or (
            isinstance(thing, Mapping) and type(thing).__module__.startswith("flax.")
        ):
            for key, value in list(thing.items()):
                self.visit(value, f"{name}[{key!r}]", thing if type(thing) is dict else None, key)
        elif isinstance(thing, _CONTAINERS):
            for index, value in enumerate(itertools.islice(thing, _LIMIT)):
                self.visit(value, f"{name}[{index}]", thing if type(thing) is list else None, index)
        elif not isinstance(thing, types.ModuleType):
            self._attributes(thing, name)

    def _collect(self, thing: Stateful, name: str, adapter: Adapter) -> None:
        self.things.append(thing)
        for path, variable in adapter.variables(thing):
            if id(variable) not in self.variables:
                label = getattr(variable, "name", None) if path == "" else None
                full = label if isinstance(label, str) else name + path
                # What it holds may be a variable of another library.
                self.variables[id(variable)] = (full, variable, adapter_of(variable) or adapter)
        # A module's own Python attributes may lead on, to functions and to objects of users' classes.
        for key, value in list(getattr(thing, "__dict__", {}).items()):
            if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)) or (
                not is_library(type(value).__module__) and adapter_of(value) is None
            ):
                self.visit(value, f"{name}.{key}")

    def _function(self, function: types.FunctionType) -> None:
        code, cells = function.__code__, function.__closure__ or ()
        if _is_library_function(function):
            self.visit(getattr(function, "__wrapped__", None), function.__name__)
            for contents in map(cell_contents, cells):
                is_function = isinstance(contents, (types.FunctionType, types.MethodType))
                if is_function or adapter_of(contents):
                    self.visit(contents, function.__name__)
            return
        for name, cell in zip(code.co_freevars, cells, strict=True):
            self.watch.cell(cell, name)
            self.visit(cell_contents(cell), name)
        for index, value in enumerate(function.__defaults__ or ()):
            self.visit(value, f"{function.__name__}.__defaults__[{index}]")
        for key, value in (function.__kwdefaults__ or {}).items():
            self.visit(value, f"{function.__name__}.__kwdefaults__[{key!r}]")
        namespace, names = function.__globals__, _names(code)
        self._use(names)
        for name in _global_names(code):
            if name in namespace:
                value = namespace[name]
                if isinstance(value, types.ModuleType):
                    self._module(value, names)
                else:
                    self.watch.item(namespace, name)
                    self.visit(value, name)
        self.visit(getattr(function, "__wrapped__", None), function.__name__)

    def _module(self, module: types.ModuleType, names: Sequence[str]) -> None:
        if is_library(module.__name__):
            return
        for name in names:
            if name in vars(module):
                self.watch.item(vars(module), name)
                self.visit(vars(module)[name], f"{module.__name__}.{name}")

    def _attributes(self, thing: Stateful, name: str) -> None:
        self.visit(getattr(thing, "__wrapped__", None), name)
        if is_library(type(thing).__module__) and not isinstance(thing, Searched):
            return
        attributes: dict[str, Any] = getattr(thing, "__dict__", {})
        self._objects.append(attributes)
        for key, value in list(attributes.items()):
            self.visit(value, f"{name}.{key}", attributes, key)
        for cls in type(thing).__mro__:
            slots: Any = cls.__dict__.get("__slots__", ())
            for key in (slots,) if isinstance(slots, str) else tuple(slots):
                if hasattr(thing, key):
                    self.visit(getattr(thing, key), f"{name}.{key}", thing, key)
            if not is_library(cls.__module__):
                for key, member in cls.__dict__.items():
                    function = member.fget if isinstance(member, property) else member
                    if isinstance(function, types.FunctionType):
                        self._method(key, function, name)

    def _method(self, key: str, function: types.FunctionType, name: str) -> None:
        """Looks at a method if the code can call it: its name is used, or Python calls it."""
        if key in self._used or (key.startswith("__") and key != "__init__"):
            self.visit(function, name)
        else:
            self._unused.setdefault(key, []).append((function, name))

    def _use(self, names: Sequence[str]) -> None:
        for used in names:
            self._used.add(used)
            for function, name in self._unused.pop(used, ()):
                self.visit(function, name)


def _with_nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yields a code object and those of the functions nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _with_nested(constant)


def _names(code: types.CodeType) -> list[str]:
    return list(dict.fromkeys(name for part in _with_nested(code) for name in part.co_names))


def _global_names(code: types.CodeType) -> list[str]:
    names = (
        instruction.argval
        for part in _with_nested(code)
        for instruction in dis.get_instructions(part)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    )
    return list(dict.fromkeys(names))


def _is_library_function(function: types.FunctionType) -> bool:
    # Code that is run under a library's name, as its doctests are, is still the user's.
    module = sys.modules.get(function.__module__ or "")
    defines_it = function.__globals__ is getattr(module, "__dict__", None)
    return is_library(function.__module__) and defines_it
