"""The compiled methods of an object: `tf.function` on a method is one function for each object."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar


class _Compiled(Protocol):
    """What this needs of a `tf.function`."""

    python_function: Callable[..., Any]

    def with_function(self, python_function: Callable[..., Any]) -> "_Compiled": ...


_F = TypeVar("_F", bound=_Compiled)


class _Methods:
    """The compiled methods of one object, kept by the object in its `__dict__`.

    A table with weak keys would not do: a compiled method reaches its object, by the bound method and,
    where the object is a module, by the state of its programs, so that the table itself would keep
    every object alive. From the object it is a cycle, which the garbage collector frees. To others this
    is opaque and like any other: copies and pickles carry an empty one, and modules that differ by
    theirs alone are equal to Flax.
    """

    __slots__ = ("_bound", "owner")

    def __init__(self, owner: object = None) -> None:
        self.owner = owner
        self._bound: dict[Any, Any] = {}

    def get(self, function: _F, kind: type | None) -> _F:
        """Returns a function as the owner's method, the same one every time."""
        if function not in self._bound:
            bound = function.with_function(function.python_function.__get__(self.owner, kind))
            self._bound.setdefault(function, bound)
        return self._bound[function]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Methods)

    def __hash__(self) -> int:
        return hash(_Methods)

    def __reduce__(self) -> Any:
        return _Methods, ()


_ATTRIBUTE = "_tf_functions"


def methods_of(instance: object) -> _Methods:
    """Returns the compiled methods of an object, made with it where it has none."""
    try:
        attributes = vars(instance)
    except TypeError:
        raise TypeError(
            f"A tf.function is a method of {type(instance).__name__}, whose objects have no __dict__ to "
            "keep its programs in, because the class declares __slots__. Add '__dict__' to its __slots__."
        ) from None
    methods: _Methods | None = attributes.get(_ATTRIBUTE)
    # A copy of the object brings along what belongs to the original.
    if methods is None or methods.owner is not instance:
        methods = attributes[_ATTRIBUTE] = _Methods(instance)
    return methods
