"""How a closure reaches an object, in the words of its code: for errors about what cannot be sent."""

import collections
import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any

from spmd.state import cell_contents

_MOST = 20_000  # objects to look at: the closure may reach all of a library


def path_to(wanted: object, start: object) -> tuple[str, str] | None:
    """Finds the shortest way from a closure to an object.

    Args:
        wanted: the object.
        start: the closure.

    Returns:
        The name of the function that refers to it, and what stands there, as `model.reader`; None if it is not found, as an object that
        is made while another one is pickled.

    Examples:
        >>> import functools
        >>> class Holder:
        ...     pass
        >>> holder = Holder()
        >>> holder.files = {"log": object()}
        >>> def step():
        ...     return holder
        >>> path_to(holder.files["log"], functools.partial(step))
        ('step', "holder.files['log']")
    """
    waiting = collections.deque([(start, "", "")])
    seen = {id(start)}
    kept: list[object] = []  # an id is an object's own only while it lives
    while waiting and len(seen) < _MOST:
        holder, function, name = waiting.popleft()
        if isinstance(holder, types.FunctionType):
            function, name = holder.__qualname__.rpartition("<locals>.")[2], ""
        for step, found in _parts(holder):
            path = f"{name}{step}" if name else step.removeprefix(".")
            if found is wanted:
                return function, path
            if id(found) not in seen and not isinstance(found, type | types.ModuleType):
                seen.add(id(found))
                kept.append(found)
                waiting.append((found, function, path))
    return None


def _parts(holder: Any) -> Iterator[tuple[str, Any]]:
    """Lists what an object refers to, each with how code gets there from the object."""
    if isinstance(holder, types.FunctionType):
        yield from zip(
            holder.__code__.co_freevars, map(cell_contents, holder.__closure__ or ()), strict=False
        )
        names = holder.__code__.co_names
        yield from ((one, holder.__globals__[one]) for one in names if one in holder.__globals__)
    elif isinstance(holder, types.MethodType):
        yield from (("", holder.__func__), ("self", holder.__self__))
    elif isinstance(holder, functools.partial):
        yield from [("", holder.func), *((f"args[{i}]", one) for i, one in enumerate(holder.args))]
        yield from holder.keywords.items()
    elif isinstance(holder, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in dict(holder).items())
    elif isinstance(holder, list | tuple | set | frozenset):
        yield from ((f"[{index}]", value) for index, value in enumerate(holder))
    else:
        yield from ((f".{key}", value) for key, value in getattr(holder, "__dict__", {}).items())
