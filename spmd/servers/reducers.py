"""How objects that a closure reaches get to the workers of other processes, where pickling alone would not do."""

from collections.abc import Callable
from typing import Any, TypeAlias

# As what `object.__reduce_ex__` returns: a function and its arguments, then what fills the object that it makes.
Reduced: TypeAlias = tuple[Any, ...]

_REDUCERS: dict[type[Any], Callable[[Any], Reduced]] = {}
_KEPT: set[type[Any]] = set()


def register_reducer(cls: type[Any], reduce: Callable[[Any], Reduced]) -> None:
    """Says how objects of a class, and of its subclasses, are copied to workers.

    A copy keeps its identity: what refers to one object here refers to one object there, call after call.

    Args:
        cls: the class.
        reduce: called with an object; returns what `__reduce_ex__` may.
    """
    _REDUCERS[cls] = reduce


def keep_on_workers(cls: type[Any]) -> None:
    """Has the workers' copies of a class live on when models and functions are sent anew, as iterators must."""
    _KEPT.add(cls)


def reducer_of(cls: type[Any]) -> Callable[[Any], Reduced] | None:
    """Returns how objects of a class are copied; None if they are pickled as Python does."""
    return next((_REDUCERS[base] for base in cls.__mro__ if base in _REDUCERS), None)


def is_kept(cls: type[Any]) -> bool:
    """Tells whether the workers' copies of a class are never replaced."""
    return any(base in _KEPT for base in cls.__mro__)


def plainly(instance: Any) -> Reduced:
    """Reduces an object to its class and attributes, whatever it says about pickling."""
    slots = {
        name: getattr(instance, name)
        for base in type(instance).__mro__
        for name in _slots(base)
        if hasattr(instance, name)
    }
    state = dict(getattr(instance, "__dict__", {})), slots
    return object.__new__, (type(instance),), state, None, None, fill


def fill(instance: Any, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Gives an object the attributes that `plainly` found."""
    attributes, slots = state
    if attributes:
        vars(instance).update(attributes)
    for name, value in slots.items():
        object.__setattr__(instance, name, value)


def _slots(cls: type[Any]) -> list[str]:
    names = vars(cls).get("__slots__", ())
    names = [names] if isinstance(names, str) else names
    return [
        f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") else name
        for name in names
        if name not in ("__weakref__", "__dict__")
    ]
