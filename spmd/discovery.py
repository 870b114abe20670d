"""Finding the state of a step: which models, optimizers and variables can a function reach?

A step may close over its state, as a TensorFlow step does. So the engine looks where Python code can
look: cells of closures, globals that the code names, default arguments, attributes of bound objects,
containers, and the functions found on the way. Code of libraries is not searched.

A *root* is a place outside of the function that it refers to by name: a cell or a global. If it is
bound to another object later (a notebook's cell run again), the programs made before are stale.
"""

import dataclasses
import functools
import operator
import sys
import types
from collections.abc import Mapping, Sequence, Set
from typing import Any

import jax
import numpy as np

from spmd.state import Adapter, StateTable, adapter_of

_LIBRARIES = frozenset(
    [
        "absl",
        "array_record",
        "chex",
        "einops",
        "flax",
        "frontends",
        "grain",
        "h5py",
        "jax",
        "jaxlib",
        "keras",
        "matplotlib",
        "numpy",
        "optax",
        "orbax",
        "pandas",
        "PIL",
        "pytest",
        "rich",
        "scipy",
        "sklearn",
        "spmd",
        "tensorflow",
        "tensorflow_datasets",
        "torch",
        "tqdm",
    ]
)
_ATOMS = (
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    type(None),
    np.ndarray,
    np.generic,
    jax.Array,
    type,
)
_NUMBERS = (str, bytes, int, float, complex, bool)
_LIMIT = 100_000


@dataclasses.dataclass(frozen=True)
class Roots:
    """The names that a function refers to outside of itself, and what they were bound to.

    Attributes:
        namespaces: dictionary of every global name.
        names: the global names, in the same order.
        cells: cells of closures.
        cell_names: the names that the cells have in the code.
        bound: what the globals, then the cells, were bound to.
    """

    namespaces: tuple[dict[str, Any], ...]
    names: tuple[str, ...]
    cells: tuple[types.CellType, ...]
    cell_names: tuple[str, ...]
    bound: tuple[Any, ...]

    def changed(self) -> str | None:
        """Names the first name that is bound to something else by now, or None."""
        # Runs before every step, so the usual answer takes no Python loop.
        try:
            now = [*map(dict.get, self.namespaces, self.names), *map(_CONTENTS, self.cells)]
        except ValueError:
            now = []
        if now and not any(map(operator.is_not, now, self.bound)):
            return None
        return self._first_changed() if self.bound else None

    def _first_changed(self) -> str | None:
        bound = iter(self.bound)
        for namespace, name in zip(self.namespaces, self.names, strict=True):
            if _differ(namespace.get(name, _UNBOUND), next(bound)):
                return name
        for cell, name in zip(self.cells, self.cell_names, strict=True):
            if _differ(cell_contents(cell), next(bound)):
                return name
        return None


_UNBOUND = object()
_CONTENTS = operator.attrgetter("cell_contents")


@dataclasses.dataclass(frozen=True)
class Discovery:
    """What a function can reach.

    Attributes:
        table: all variables.
        roots: the names through which they were reached.
        attributes: `__dict__` and key of plain values of plain objects that the code may read.
    """

    table: StateTable
    roots: Roots
    attributes: list[tuple[dict[str, Any], str]]


def discover(function: Any, extra: Sequence[tuple[str, Any]] = ()) -> Discovery:
    """Finds all state that a function can reach.

    Args:
        function: the function of a step, or any callable.
        extra: more objects to search, with names: arguments, or what the user named.

    Returns:
        What was found.
    """
    search = _Search()
    for name, thing in extra:
        search.visit(thing, name)
    search.visit(function, getattr(function, "__name__", "step"))
    search.run()
    table = StateTable(search.things, list(search.variables.values()))
    roots = Roots(
        namespaces=tuple(namespace for namespace, _, _ in search.globals),
        names=tuple(name for _, name, _ in search.globals),
        cells=tuple(cell for cell, _, _ in search.cells),
        cell_names=tuple(name for _, name, _ in search.cells),
        bound=tuple(thing for _, _, thing in search.globals + search.cells),
    )
    return Discovery(table, roots, search.plain_attributes())


class _Search:
    """A walk over the objects that a function can reach; each is visited once."""

    def __init__(self) -> None:
        self.things: list[Any] = []
        self.variables: dict[int, tuple[str, Any, Adapter]] = {}
        self.globals: list[tuple[dict[str, Any], str, Any]] = []
        self.cells: list[tuple[types.CellType, str, Any]] = []
        self._objects: list[dict[str, Any]] = []
        # Names that the code found so far uses, and methods whose name it does not use yet.
        self._used: set[str] = set()
        self._unused: dict[str, list[tuple[types.FunctionType, str]]] = {}
        self._queue: list[tuple[Any, str]] = []
        self._seen: dict[int, Any] = {}

    def visit(self, thing: Any, name: str) -> None:
        if not isinstance(thing, _ATOMS) and id(thing) not in self._seen:
            # Kept alive for as long as the search runs: an id may be used again otherwise.
            self._seen[id(thing)] = thing
            self._queue.append((thing, name))

    def run(self) -> None:
        position = 0
        while position < len(self._queue) and position < _LIMIT:
            self._look_at(*self._queue[position])
            position += 1

    def plain_attributes(self) -> list[tuple[dict[str, Any], str]]:
        """Lists numbers, texts and flags that the code may read from plain objects."""
        return [
            (attributes, key)
            for attributes in self._objects
            for key, value in attributes.items()
            if key in self._used and isinstance(value, (*_NUMBERS, type(None)))
        ]

    def _look_at(self, thing: Any, name: str) -> None:
        adapter = adapter_of(thing)
        if adapter is not None:
            self._collect(thing, name, adapter)
        elif isinstance(thing, types.FunctionType):
            self._function(thing)
        elif isinstance(thing, types.MethodType):
            self.visit(thing.__self__, name if thing.__self__ is None else _owner(thing, name))
            self.visit(thing.__func__, name)
        elif isinstance(thing, functools.partial):
            self.visit(thing.func, name)
            self.visit(thing.args, f"{name}.args")
            self.visit(thing.keywords, f"{name}.keywords")
        elif isinstance(thing, Mapping):
            for key, value in list(thing.items()):
                self.visit(value, f"{name}[{key!r}]")
        elif isinstance(thing, (Sequence, Set)):
            for index, value in enumerate(thing):
                self.visit(value, f"{name}[{index}]")
        elif not isinstance(thing, types.ModuleType):
            self._attributes(thing, name)

    def _collect(self, thing: Any, name: str, adapter: Adapter) -> None:
        self.things.append(thing)
        for path, variable in adapter.variables(thing):
            if id(variable) not in self.variables:
                label = getattr(variable, "name", None) if path == "" else None
                full = label if isinstance(label, str) else name + path
                self.variables[id(variable)] = (full, variable, adapter)
        # A module's own Python attributes may lead on, to functions and plain objects.
        for key, value in list(getattr(thing, "__dict__", {}).items()):
            if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
                self.visit(value, f"{name}.{key}")

    def _function(self, function: types.FunctionType) -> None:
        if _is_library_function(function):
            wrapped = getattr(function, "__wrapped__", None)
            if wrapped is not None:
                self.visit(wrapped, function.__name__)
            for cell in function.__closure__ or ():
                contents = cell_contents(cell)
                if isinstance(contents, (types.FunctionType, types.MethodType)) or adapter_of(
                    contents
                ):
                    self.visit(contents, function.__name__)
            return
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            contents = cell_contents(cell)
            self.cells.append((cell, name, contents))
            self.visit(contents, name)
        for index, value in enumerate(function.__defaults__ or ()):
            self.visit(value, f"{function.__name__}.__defaults__[{index}]")
        for key, value in (function.__kwdefaults__ or {}).items():
            self.visit(value, f"{function.__name__}.__kwdefaults__[{key!r}]")
        namespace = function.__globals__
        names = _names(function.__code__)
        self._use(names)
        for name in names:
            if name in namespace:
                value = namespace[name]
                if isinstance(value, types.ModuleType):
                    self._module(value, names)
                else:
                    self.globals.append((namespace, name, value))
                    self.visit(value, name)
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            self.visit(wrapped, function.__name__)

    def _module(self, module: types.ModuleType, names: Sequence[str]) -> None:
        if _is_library(module.__name__):
            return
        for name in names:
            if name in vars(module):
                self.globals.append((vars(module), name, vars(module)[name]))
                self.visit(vars(module)[name], f"{module.__name__}.{name}")

    def _attributes(self, thing: Any, name: str) -> None:
        wrapped = getattr(thing, "__wrapped__", None)
        if wrapped is not None:
            self.visit(wrapped, name)
        if _is_library(type(thing).__module__):
            return
        attributes: dict[str, Any] = getattr(thing, "__dict__", {})
        self._objects.append(attributes)
        for key, value in list(attributes.items()):
            self.visit(value, f"{name}.{key}")
        for cls in type(thing).__mro__:
            slots: Any = cls.__dict__.get("__slots__", ())
            for key in (slots,) if isinstance(slots, str) else tuple(slots):
                if hasattr(thing, key):
                    self.visit(getattr(thing, key), f"{name}.{key}")
            if not _is_library(cls.__module__):
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


def _owner(method: types.MethodType, name: str) -> str:
    return name.rsplit(".", 1)[0] if "." in name else type(method.__self__).__name__


def _names(code: types.CodeType) -> tuple[str, ...]:
    """All names that a code object and the functions nested in it use."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.extend(_names(constant))
    return tuple(dict.fromkeys(names))


def _is_library_function(function: types.FunctionType) -> bool:
    # Code that is run under a library's name, as its doctests are, is still the user's.
    module = sys.modules.get(function.__module__ or "")
    return _is_library(function.__module__) and function.__globals__ is getattr(
        module, "__dict__", None
    )


def _is_library(module: str | None) -> bool:
    top = (module or "").partition(".")[0]
    return top in _LIBRARIES or (top in sys.stdlib_module_names and top != "__main__")


def _differ(now: Any, before: Any) -> bool:
    if now is before:
        return False
    return not (isinstance(now, _NUMBERS) and type(now) is type(before) and now == before)


def cell_contents(cell: types.CellType) -> Any:
    """Returns what a closure's cell is bound to, or a mark if it is not bound yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return _UNBOUND
