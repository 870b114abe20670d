"""`x.ref()`: what stands for an array or a variable in sets and dictionaries."""

from typing import Any


class Reference:
    """Stands for an array or a variable where something hashable is needed; equal if it is the same object.

    Source: `tf.Tensor.ref`, `tf.Variable.ref`.
    """

    __slots__ = ("_referent",)

    def __init__(self, referent: Any) -> None:
        """Refers to an object, and keeps it alive."""
        self._referent = referent

    def deref(self) -> Any:
        """Returns the array or variable."""
        return self._referent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._referent is self._referent

    def __hash__(self) -> int:
        return id(self._referent)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referent!r}>"
