"""Finds the training step among the programs that a script makes: the first one that updates what it reads."""

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
from jax.extend.core import Var

from spmd.proof import depends_on
from spmd.state import Kind
from spmd.step import Program

# Metrics, and random keys: an evaluation changes them, too.
_NOT_TRAINED = (Kind.SUM, Kind.KEY)


class Capture:
    """Hands the training step to a function, which ends the process; other programs run as they are.

    Attributes:
        passed: names of the programs that ran, as they are no training steps, or not the one that was asked for.
    """

    def __init__(
        self, name: str, take: Callable[[Program, Mapping[str, str | bool] | None], None]
    ) -> None:
        """Makes it.

        Args:
            name: of the step's function; empty takes the first one that trains.
            take: gets the program and its options for XLA.
        """
        self.passed: list[str] = []
        self._name, self._take = name, take

    def __call__(self, program: Program, options: Mapping[str, str | bool] | None) -> None:
        """Looks at a program that is about to be compiled."""
        wanted = program.name == self._name if self._name else trains(program)
        if wanted:
            self._take(program, options)
        elif program.name not in self.passed:
            self.passed.append(program.name)


def trains(program: Program) -> bool:
    """Tells whether a program trains: it computes new numbers of variables from what it reads of the state.

    An evaluation changes metrics only, and an initialisation computes values from nothing.
    """
    jaxpr, table, arguments = program.jaxpr, program.state, program.arguments
    others = len(arguments.split) + len(arguments.masks) + len(arguments.whole)
    first = len(jaxpr.invars) - others - table.size
    state = range(first, first + table.size)
    depends = depends_on(jaxpr, [index in state for index in range(len(jaxpr.invars))])
    return any(
        old is not new and depending and kind not in _NOT_TRAINED and _is_real(old)
        for old, new, depending, kind in zip(
            jaxpr.invars[first : first + table.size],
            jaxpr.outvars,
            depends,
            table.kinds,
            strict=False,  # results follow
        )
    )


def _is_real(variable: Var) -> bool:
    aval: Any = variable.aval
    return jnp.issubdtype(aval.dtype, jnp.floating)
