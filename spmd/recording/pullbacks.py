"""Compiled pullbacks: what takes gradients back through operations that run again and again outside of programs.

`jax.vjp` linearizes an operation in Python each time that it runs, for a millisecond or more. A loop that no program
holds runs the same operations on arrays of the same shapes in every step, so from some run on a program takes their
gradients. It computes what it needs of the forward pass anew, from the operands.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.core import Tracer

from spmd._jax_internals import BoundOperation, constant_outputs

# A program takes as long to compile as some dozens of runs take without it.
_RUNS_UNCOMPILED = 10
# Operations that are known at a time; the oldest one goes.
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
            def of_inputs(*values: Any) -> Any:
                return bind(*replaced(args, positions, values))

            _, pull_back = jax.vjp(of_inputs, *(args[index] for index in positions))
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
    """Pullbacks by operation and shapes; those that came often enough are compiled.

    Source: `jax.vjp`, `jax.jit`.
    """

    def __init__(self) -> None:
        """Knows no operation yet."""
        self._known: dict[Any, int | Pullback] = {}
        self._lock = threading.Lock()

    def get(
        self, bind: BoundOperation, args: Sequence[Any], positions: Sequence[int]
    ) -> Pullback | Callable[[Any], None] | None:
        """Finds what takes gradients back through an operation.

        Args:
            bind: the operation.
            args: its operands.
            positions: those that gradients are taken by.

        Returns:
            The pullback; or, before there is one, what is to be told the operation's `jax.vjp`; None of an operation in a
            trace, or of one that cannot be told from others.
        """
        if any(isinstance(value, Tracer) for value in args):
            return None
        identity = bind.identity
        if identity is None:
            return None
        key = identity, tuple(map(jax.typeof, args)), tuple(positions)
        found = self._known.get(key, 0)
        if isinstance(found, Pullback):
            return found

        def ran(pull: Any) -> None:
            with self._lock:
                enough = found + 1 >= _RUNS_UNCOMPILED
                self._known[key] = (
                    Pullback(bind, positions, constant_outputs(pull)) if enough else found + 1
                )
                if len(self._known) > _MOST_KNOWN:
                    del self._known[next(iter(self._known))]

        return ran


def replaced(args: Sequence[Any], positions: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """Puts other values in the place of some."""
    found = list(args)
    for index, value in zip(positions, values, strict=True):
        found[index] = value
    return found
