"""Compiled pullbacks: what takes gradients back through operations that run outside of programs.

`jax.vjp` linearizes an operation in Python each time that it runs, for a millisecond or more, and runs what it is made of
piece by piece, each with a compilation of its own. So a program takes the gradients of an operation, one for all operands
of the same shapes. It computes what it needs of the forward pass anew, from the operands.
"""

import threading
from collections.abc import Sequence
from typing import Any

import jax
from jax.core import Tracer

from spmd._jax_internals import BoundOperation, constant_outputs

# Operations that are known at a time; the one that came first goes.
_MOST_KNOWN = 1024


class Pullback:
    """What takes gradients back through one operation on arrays of some shapes.

    Attributes:
        constant: for each output, whether no gradient goes through it.
    """

    def __init__(
        self, bind: BoundOperation, positions: Sequence[int], constant: Sequence[bool]
    ) -> None:
        """Makes the pullback; compiles it when it is first called.

        Args:
            bind: the operation.
            positions: the operands that gradients are taken by.
            constant: as the attribute.
        """
        self.constant = constant

        def pull(args: list[Any], cotangents: Any) -> list[Any]:
            _, pull_back = linearized(bind, args, positions)
            return list(pull_back(cotangents))

        self._pull = jax.jit(pull)

    def __call__(self, args: Sequence[Any], cotangents: Any) -> list[Any]:
        """Computes the gradients of the operands.

        Args:
            args: all operands, arrays.
            cotangents: for each output, in the structure of the result.
        """
        return self._pull(list(args), cotangents)


class Pullbacks:
    """Pullbacks by operation and shapes of the operands.

    Source: `jax.vjp`, `jax.jit`.
    """

    def __init__(self) -> None:
        """Knows no operation yet."""
        self._known: dict[Any, Pullback | None] = {}
        self._lock = threading.Lock()

    def get(
        self, bind: BoundOperation, args: Sequence[Any], positions: Sequence[int]
    ) -> Pullback | None:
        """Finds what takes gradients back through an operation; compiles nothing yet.

        Args:
            bind: the operation.
            args: its operands.
            positions: those that gradients are taken by.

        Returns:
            The pullback; None of an operation in a trace, of one that cannot be told from others or must not
            run again, and of one that has none.
        """
        if any(isinstance(value, Tracer) for value in args):
            return None
        identity = bind.identity
        if identity is None:
            return None
        key = identity, tuple(map(jax.typeof, args)), tuple(positions)
        try:
            return self._known[key]
        except KeyError:
            found = _pullback(bind, args, positions)
        with self._lock:
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[key] = found
        return found


def _pullback(
    bind: BoundOperation, args: Sequence[Any], positions: Sequence[int]
) -> Pullback | None:
    # Once for each operation, not at each of its calls: it goes through the whole program.
    if not bind.is_repeatable:
        return None
    constant: list[bool] = []

    def look(*values: Any) -> None:
        _, pull = linearized(bind, replaced(args, positions, values), positions)
        constant[:] = constant_outputs(pull)

    try:
        jax.eval_shape(look, *(args[index] for index in positions))
    except Exception:  # whoever records it finds out what is wrong with it
        return None
    return Pullback(bind, positions, constant)


def linearized(bind: BoundOperation, args: Sequence[Any], positions: Sequence[int]) -> Any:
    """Runs an operation; returns its result, and what takes gradients back to the operands at some positions."""
    inputs = [args[index] for index in positions]
    return jax.vjp(lambda *values: bind(*replaced(args, positions, values)), *inputs)


def replaced(args: Sequence[Any], positions: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """Puts other values in the place of some."""
    found = list(args)
    for index, value in zip(positions, values, strict=True):
        found[index] = value
    return found
