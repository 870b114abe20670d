"""Variables by name, which outlive the graphs that use them."""

from collections.abc import Callable
from typing import Any

from frontends.tf._typing import VariableLike
from spmd.state import Searched


class VariableStore(Searched):
    """What a model function finds again when it is called another time: variables, and optimizers with their slots.

    Attributes:
        variables: by name, in the order in which they were made.
        objects: optimizers and their like, by name.
        local: names of the variables that checkpoints do not hold.
        writers: what writes summaries, by its folder and the end of the file's name.
    """

    def __init__(self) -> None:
        self.variables: dict[str, VariableLike] = {}
        self.objects: dict[str, Any] = {}
        self.local: set[str] = set()
        self.writers: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"writers": {}}  # files of this process

    def saved(self) -> dict[str, VariableLike]:
        """Returns the variables that checkpoints hold, by name."""
        return {name: one for name, one in self.variables.items() if name not in self.local}

    def clear(self) -> None:
        """Forgets everything."""
        for some in (self.variables, self.objects, self.local):
            some.clear()

    def object(self, name: str, make: Callable[[], Any]) -> Any:
        """Returns the object of a name; makes it the first time."""
        if name not in self.objects:
            self.objects[name] = make()
        return self.objects[name]
