"""Variables by name, which outlive the graphs that use them."""

from typing import Any

from frontends.tf._typing import VariableLike
from spmd.state import Searched


class VariableStore(Searched):
    """What a model function finds again when it is called another time.

    Attributes:
        variables: by name, in the order in which they were made.
        local: names of the variables that checkpoints do not hold.
        writers: what writes summaries, by its folder and the end of the file's name.
    """

    def __init__(self) -> None:
        self.variables: dict[str, VariableLike] = {}
        self.local: set[str] = set()
        self.writers: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"writers": {}}  # files of this process

    def saved(self) -> dict[str, VariableLike]:
        """Returns the variables that checkpoints hold, by name."""
        return {name: one for name, one in self.variables.items() if name not in self.local}

    def clear(self) -> None:
        """Forgets everything."""
        self.variables.clear()
        self.local.clear()
