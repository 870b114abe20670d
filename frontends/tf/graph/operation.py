"""Operations: changes of state that a model function describes, and that happen only if they are fetched."""

from collections.abc import Callable, Sequence
from typing import Any


class Operation:
    """A change of state that happens when it is run, after others.

    A graph of TensorFlow 1 holds updates that nobody may ask for: those of an optimizer that is made in every mode, or of
    moving averages. So they are kept until the operation is fetched, which `Graph.run` does.

    Attributes:
        name: shown in messages and found by hooks.
        inputs: operations, or tensors with operations, that run before.
        effect: changes the state; None for an operation that only groups others.

    Source: `tf.Operation`.
    """

    def __init__(
        self,
        name: str,
        effect: Callable[[], Any] | None = None,
        inputs: Sequence[Any] = (),
    ) -> None:
        """Describes an operation.

        Args:
            name: of the operation.
            effect: see `Operation`.
            inputs: see `Operation`.
        """
        self.name, self.inputs, self.effect = name, tuple(inputs), effect

    def apply(self) -> None:
        """Changes the state, whatever comes before."""
        if self.effect is not None:
            self.effect()

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r}>"
