"""Functions made pure: what they read of arrays and variables, and write of these, becomes arguments and results.

JAX's transformations, such as `jax.custom_vjp`, take pure functions. A function of a script reads variables that it
closes over, draws random numbers and assigns.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested, VariableLike
from frontends.tf.gradient_sources import is_variable
from frontends.tf.ops.random_stream import STREAM
from spmd._jax_internals import interposed
from spmd.state import adapter_of, discover


class ExplicitCall:
    """A call of a function, with its arrays and variables made explicit.

    Attributes:
        arrays: the arrays among the arguments.
        held: what the variables that the function can reach hold.
        variables: these variables, in the order of `held`.
        positions: for each array, variable and number among the positional arguments, its index in `arrays`, or the
            variable that it is, or None.
        used: indices of the variables that the last call read.
        written: indices of the variables that the last call wrote.
    """

    def __init__(self, function: Callable[..., Any], args: Nested, kwargs: Nested) -> None:
        """Finds out what a function can reach; it is not called yet."""
        self._function = function
        self._arguments: Any = (list(args), kwargs)
        leaves = nest.flatten(self._arguments)
        indices = [index for index, leaf in enumerate(leaves) if _is_array(leaf)]
        self._leaves, self._indices = leaves, indices
        self.arrays: list[Any] = [jnp.asarray(leaves[index]) for index in indices]
        where = {index: number for number, index in enumerate(indices)}
        self.positions: list[Any] = [
            leaf if is_variable(leaf) else where.get(index)
            for index, leaf in enumerate(nest.flatten(list(args)))
            if index in where or is_variable(leaf) or isinstance(leaf, _NUMBERS)
        ]
        self._table, _ = discover(
            function, [("args", args), ("kwargs", kwargs), ("tf.random", STREAM)]
        )
        self.held: list[Any] = self._table.read()
        self.variables: list[VariableLike] = [
            slot.variable for slot in self._table.slots for _ in range(slot.count)
        ]
        self.used: set[int] = set()
        self.written: list[int] = []

    def __call__(
        self, arrays: Sequence[Any], held: Sequence[Any], then: Callable[[Any], Any]
    ) -> tuple[Any, list[Any]]:
        """Calls the function.

        Args:
            arrays: in place of `arrays`.
            held: in place of `held`.
            then: called with the result while the variables hold that.

        Returns:
            What `then` returned, and the new values of the variables that were written.
        """
        leaves = list(self._leaves)
        for index, array in zip(self._indices, arrays, strict=True):
            leaves[index] = array
        args, kwargs = nest.pack_sequence_as(self._arguments, leaves)
        read: set[int] = set()

        def operate(bind: Callable[..., Any], values: Sequence[Any]) -> Any:
            read.update(map(id, values))
            return bind(*values)

        with self._table.lifted(held):
            with interposed(operate):
                result = self._function(*args, **kwargs)
            found = then(result)
            after = self._table.read()
        read.update(id(leaf) for leaf in jax.tree.leaves(found))
        self.used = {index for index, value in enumerate(held) if id(value) in read}
        pairs = enumerate(zip(held, after, strict=True))
        self.written = [index for index, (old, new) in pairs if new is not old]
        return found, [after[index] for index in self.written]

    def assign(self, values: Sequence[Any]) -> None:
        """Gives the variables that were written their new values."""
        self._table.assign(dict(zip(self.written, values, strict=True)))


def trainable(variable: VariableLike) -> bool:
    """Tells whether gradients are taken by a variable unless someone asks for others."""
    adapter = adapter_of(variable)
    inexact = adapter is not None and jnp.issubdtype(
        jnp.result_type(adapter.get(variable)), jnp.inexact
    )
    return bool(inexact and getattr(variable, "trainable", True))


_NUMBERS = (bool, int, float, complex)


def _is_array(leaf: object) -> bool:
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind not in "OSU"
    return isinstance(leaf, jax.Array)
