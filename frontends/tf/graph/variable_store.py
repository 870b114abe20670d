"""Variables by name, which outlive the graphs that use them."""

from collections.abc import Callable
from typing import Any

from frontends.tf._typing import VariableLike


class VariableStore:
    """What a model function finds again when it is called another time: variables, and optimizers with their slots.

    Attributes:
        variables: by name, in the order in which they were made.
        objects: optimizers and their like, by name.
    """

    def __init__(self) -> None:
        self.variables: dict[str, VariableLike] = {}
        self.objects: dict[str, Any] = {}

    def object(self, name: str, make: Callable[[], Any]) -> Any:
        """Returns the object of a name; makes it the first time."""
        if name not in self.objects:
            self.objects[name] = make()
        return self.objects[name]
