"""A formula as a parameter server runs it, on one variable."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.compat.v1.train.formulas import Formula, Updated
from spmd.typing import PyTree


@dataclasses.dataclass(frozen=True)
class UpdateRule:
    """How a gradient updates a variable and its slots; `spmd.servers` calls it a rule.

    Attributes:
        key: tells rules apart, and is the same in all processes that update the variable.
        formula: of the optimizer.
        constraint: of the variable, or None.
    """

    key: str
    formula: Formula
    constraint: Callable[[Any], Any] | None

    def slots(self, value: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """Returns the initial values of what is kept beside a variable."""
        return [np.full(value.shape, one, value.dtype) for one in self.formula.initial()]

    def update(self, value: jax.Array, slots: list[jax.Array], operand: PyTree) -> Updated:
        """Applies a gradient; `operand` is the gradient, and the scalars of the formula."""
        new, others = self.formula.update(
            value, slots, *(one.astype(value.dtype) for one in operand)
        )
        return new if self.constraint is None else jnp.asarray(self.constraint(new)), others

    def is_by_row(self, value: np.ndarray[Any, Any]) -> bool:
        """Tells whether a row changes only by its own gradient."""
        del value
        return self.formula.is_by_row() and self.constraint is None
