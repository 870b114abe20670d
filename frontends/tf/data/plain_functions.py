"""Plain functions: those that, as far as their code tells, do nothing but compute what they return.

Such a function may be called in another process: nobody there sees what it would change, and what it reads is a copy. A function
is plain if it is written in Python; if all that it refers to outside is numbers, texts, arrays, tables, specs of features, plain
functions, this front end, `math` and NumPy; and if it neither assigns to attributes or items nor uses names of what has
an effect, such as `append`, `print` or `numpy.random`.
"""

import builtins
import dis
import functools
import math
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf.dtypes import DType

_MODULES = ("math", "numpy", "frontends.tf")
_BUILTINS = frozenset(
    {
        *("abs", "all", "any", "bool", "bytes", "dict", "divmod", "enumerate", "float", "int"),
        *("isinstance", "len", "list", "map", "max", "min", "range", "reversed", "round", "slice"),
        *("sorted", "str", "sum", "tuple", "zip", "AssertionError", "IndexError", "KeyError"),
        *("RuntimeError", "TypeError", "ValueError"),
    }
)
# Names of functions and methods that change something, or whose results differ between processes.
_EFFECTS = frozenset(
    {
        *(
            "append",
            "clear",
            "extend",
            "insert",
            "pop",
            "popitem",
            "remove",
            "setdefault",
            "update",
        ),
        *("at", "byteswap", "copyto", "fill_diagonal", "itemset", "place", "put", "put_along_axis"),
        *("putmask", "setfield", "setflags", "tofile", "TFRecordWriter", "write", "writelines"),
        *(
            "assign",
            "assign_add",
            "assign_sub",
            "load",
            "memmap",
            "save",
            "savetxt",
            "savez",
            "seed",
        ),
        *("Variable", "compat", "contrib", "config", "data", "distribute", "experimental", "gfile"),
        *("global_variables", "keras", "logging", "print", "profiler", "summary", "timestamp"),
        *(
            "train",
            "write_file",
            "set_seed",
            "init_scope",
            "py_function",
            "numpy_function",
            "py_func",
        ),
    }
)
_ASSIGNMENTS = frozenset(
    {
        *("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR"),
        *("DELETE_SUBSCR", "IMPORT_NAME", "STORE_SLICE", "YIELD_VALUE", "SETUP_ASYNC_WITH"),
    }
)
# What a value of one of these types refers to need not be looked at.
_SIMPLE = frozenset({int, float, complex, bool, str, bytes, type(None)})
_NUMBERS = (int, float, complex, str, bytes, np.generic, np.ndarray, DType, type(None), type(...))


class Outside(NamedTuple):
    """What plain functions refer to.

    Attributes:
        reads: For each name, what returns its value now, and its value when it was looked at.
        modules: Names of the modules that have the functions.
    """

    reads: list[tuple[Callable[[], Any], Any]]
    modules: set[str]

    def is_current(self) -> bool:
        """Tells whether the names stand for the same objects as before."""
        return all(now() is value for now, value in self.reads)


class _NotPlainError(Exception):
    """A function may do more than to compute what it returns."""


def outside_of(function: Any) -> Outside | None:
    """Finds what a plain function refers to; None if it is not plain, as far as one can tell.

    Args:
        function: What the user passed to `map`.
    """
    finder = _Finder()
    try:
        finder.look_at(function)
    except _NotPlainError:
        return None
    return finder.outside


class _Finder:
    """Looks at a function and at all that it refers to."""

    def __init__(self) -> None:
        self.outside = Outside([], set())
        self._seen: set[int] = set()

    def look_at(self, value: Any) -> None:
        """Looks at a value that a function refers to.

        Raises:
            _NotPlainError: it may be more than a value.
        """
        if isinstance(value, jax.Array):
            if isinstance(value, Tracer) or not value.is_fully_addressable:
                raise _NotPlainError
        elif isinstance(value, _NUMBERS):
            if isinstance(value, np.ndarray) and value.dtype.hasobject and not _holds_texts(value):
                raise _NotPlainError
        elif isinstance(value, tuple | list | frozenset | dict):
            self._look_at_items(value)
        elif isinstance(value, types.ModuleType):
            name = value.__name__
            inside = name.startswith("frontends.tf.") and _EFFECTS.isdisjoint(name.split("."))
            if not (inside or name in _MODULES):
                raise _NotPlainError
        elif isinstance(value, functools.partial):
            for each in (value.func, value.args, value.keywords):
                self.look_at(each)
        elif isinstance(value, types.FunctionType):
            self._look_at_function(value)
        elif not _is_known(value):
            raise _NotPlainError

    def _look_at_items(self, items: tuple | list | frozenset | dict) -> None:
        if id(items) in self._seen:  # a list may be in itself
            return
        self._seen.add(id(items))
        for each in (items, items.values()) if isinstance(items, dict) else (items,):
            if not set(map(type, each)) <= _SIMPLE:  # a vocabulary has a million texts
                for item in each:
                    self.look_at(item)

    def _look_at_function(self, function: types.FunctionType) -> None:
        if id(function) in self._seen or _is_ours(function):
            return
        self._seen.add(id(function))
        self.outside.modules.add(function.__module__)
        code = function.__code__
        found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for value in found:
            self.look_at(value)
        for cell in function.__closure__ or ():
            found.append(self._read(functools.partial(getattr, cell, "cell_contents")))
        for name in _globals_of(code):
            if name in function.__globals__:
                found.append(self._read(functools.partial(function.__globals__.get, name)))
            elif name not in _BUILTINS or not hasattr(builtins, name):
                raise _NotPlainError
        if any(value is np for value in found) and "random" in _names_of(code):
            raise _NotPlainError

    def _read(self, now: Callable[[], Any]) -> Any:
        try:
            value = now()
        except ValueError:  # an empty cell
            raise _NotPlainError from None
        self.look_at(value)
        self.outside.reads.append((now, value))
        return value


def _globals_of(code: types.CodeType) -> Iterator[str]:
    """Yields the global names that code reads.

    Raises:
        _NotPlainError: it assigns to something else than names of its own, or uses names of what has effects.
    """
    if not _EFFECTS.isdisjoint(code.co_names) or code.co_flags & (
        0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines
    ):
        raise _NotPlainError
    if any(isinstance(one, tuple) and "out" in one for one in code.co_consts):
        raise _NotPlainError  # np.add(x, 1, out=y) changes y: names of arguments are constants
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in _ASSIGNMENTS or (
            name in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in code.co_freevars
        ):
            raise _NotPlainError
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant)


def _names_of(code: types.CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names}.union(*map(_names_of, inner))


def _holds_texts(array: np.ndarray) -> bool:
    return all(issubclass(each, str | bytes) for each in set(map(type, array.flat)))


def _is_ours(function: types.FunctionType) -> bool:
    # `random` of NumPy and of Python are no functions of Python's, and modules that are named are looked at by name.
    return (function.__module__ or "").startswith("frontends.tf.")


def _is_known(value: Any) -> bool:
    from frontends.tf.lookup import StaticHashTable, StaticVocabularyTable  # it imports datasets

    return isinstance(value, StaticHashTable | StaticVocabularyTable) or (
        isinstance(value, types.BuiltinFunctionType)
        and getattr(math, value.__name__, None) is value
    )
