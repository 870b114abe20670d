"""Operations that several replicas share, done once: common subexpressions of the programs that run in `lockstep`.

Values are known by their identity. So what is made of the same values in the same way is the same object again, and
two values are equal on all replicas if they are one object.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import JaxprEqn

from spmd.proof import same_operation

# Constants of more elements are told apart by their identity.
_COMPARED = 2**16


class SharedOperations:
    """Does each operation once, and remembers the results.

    Examples:
        >>> import jax.numpy as jnp
        >>> shared, x = SharedOperations(), jnp.ones(2)
        >>> first = shared.once("sum", [x], lambda: x.sum())
        >>> shared.once("sum", [x], lambda: x.sum()) is first
        True
    """

    def __init__(self, outside: "SharedOperations | None" = None) -> None:
        """Starts without results.

        Args:
            outside: what was computed around the program that begins here; its results are known, too.
        """
        self._outside = outside
        self._operations: dict[Hashable, list[tuple[JaxprEqn, Sequence[Any]]]] = {}
        self._made: dict[Hashable, Any] = {}
        # Arrays that went into a key; alive, their ids stay theirs.
        self._held: list[Any] = []

    def operation(
        self, equation: JaxprEqn, operands: Sequence[Any], bind: Callable[..., Sequence[Any]]
    ) -> Sequence[Any]:
        """Does an operation, unless that was done before.

        Args:
            equation: the operation.
            operands: its operands; they are told apart by their identity.
            bind: does it.
        """
        if equation.effects:
            return bind(*operands)  # reads or writes a reference
        key = equation.primitive, tuple(map(id, operands))
        for table in self._tables():
            for known, results in table._operations.get(key, ()):
                if same_operation(known, equation):
                    return results
        results = bind(*operands)
        self._held += operands
        self._operations.setdefault(key, []).append((equation, results))
        return results

    def once(self, what: Hashable, operands: Sequence[Any], make: Callable[[], Any]) -> Any:
        """Makes something of operands, unless that was made before.

        Args:
            what: tells what is made of them.
            operands: arrays; they are told apart by their identity.
            make: makes it.
        """
        key = what, tuple(map(id, operands))
        for table in self._tables():
            if key in table._made:
                return table._made[key]
        self._held += operands
        self._made[key] = make()
        return self._made[key]

    def constant(self, value: Any) -> Any:
        """Returns a constant: the same object for the same content, where that can be seen."""
        if not _can_be_compared(value):
            return value
        if self._outside is not None:
            return self._outside.constant(value)
        array = np.asarray(value)
        content = array.dtype, array.shape, array.tobytes()
        return self.once(content, (), lambda: value)

    def _tables(self) -> "Iterator[SharedOperations]":
        table: SharedOperations | None = self
        while table is not None:
            yield table
            table = table._outside


def _can_be_compared(value: Any) -> bool:
    if isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
        return True
    return (
        isinstance(value, jax.Array)
        and not isinstance(value, Tracer)
        and not jnp.issubdtype(value.dtype, jax.dtypes.extended)
        and value.is_fully_addressable
        and value.size <= _COMPARED
    )
