"""`lift`: a function with state becomes a pure one, for a person's own `jax.jit` or `jax.shard_map`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from spmd.errors import StateError
from spmd.state import discover
from spmd.step.locks import TRACING, StateClaim
from spmd.typing import PyTree, Stateful


class PureFunction:
    """A function that takes its state and returns the new one; `lift` makes it."""

    def __init__(self, function: Callable[..., PyTree], state: Sequence[Stateful]) -> None:
        """Finds the state of a function; use `lift`."""
        self.__wrapped__ = function
        self.__name__: str = getattr(function, "__name__", type(function).__name__)
        extra = [(f"state[{index}]", one) for index, one in enumerate(state)]
        self._table, _ = discover(function, extra)
        if self._table.builders():
            raise StateError(
                f"{self.__name__!r} reaches objects that make their variables at their first use, so these "
                "cannot be found yet. Build them first: model.build(shape), or call them once."
            )
        self._claim = StateClaim(self._table)
        self._names = _unique(self._table.leaf_names)

    def __call__(
        self, state: Mapping[str, jax.Array], *args: Any, **kwargs: Any
    ) -> tuple[PyTree, dict[str, jax.Array]]:
        """Calls the function with other state, and leaves its variables as they are.

        Args:
            state: a value for every variable, as `lift` gave them.
            *args: of the function.
            **kwargs: of the function.

        Returns:
            The function's result, and the new state.

        Raises:
            StateError: variables are missing, or unknown.
        """
        self._check_names(state)
        with TRACING, self._claim.lock(), self._table.lifted([state[name] for name in self._names]):
            result = self.__wrapped__(*args, **kwargs)
            new = self._table.read()
        return result, dict(zip(self._names, new, strict=True))

    def read(self) -> dict[str, jax.Array]:
        """Returns copies of what the variables hold; they may be donated."""
        with self._claim.lock():
            return {
                name: jnp.copy(leaf)
                for name, leaf in zip(self._names, self._table.read(), strict=True)
            }

    def write(self, state: Mapping[str, jax.Array]) -> None:
        """Gives the variables other values, such as trained ones; keep no use of these arrays that donates them.

        Args:
            state: a value for every variable.

        Raises:
            StateError: variables are missing, or unknown.
        """
        self._check_names(state)
        with self._claim.lock():
            self._table.write([state[name] for name in self._names])

    def _check_names(self, state: Mapping[str, jax.Array]) -> None:
        wrong = sorted(set(self._names) ^ set(state))
        if wrong:
            raise StateError(
                f"The state of {self.__name__!r} is {', '.join(self._names) or 'empty'}, but what was passed "
                f"differs from that in {', '.join(wrong)}. Pass what spmd.lift(function) gave, or what a "
                "call of the lifted function returned."
            )


def lift(
    function: Callable[..., PyTree], *, state: Sequence[Stateful] = ()
) -> tuple[PureFunction, dict[str, jax.Array]]:
    """Makes a pure function of one that reads and writes models, optimizers and variables.

    The function runs as it does outside of a step: there is one replica, so sums over replicas are up to
    who calls it, random keys are not folded, and nothing is proven.

    Args:
        function: the function.
        state: objects with state that it reaches by ways that cannot be searched.

    Returns:
        A function `(state, *args, **kwargs) -> (result, new state)`, and the state that it starts from: a copy
        of the value of each variable, by its name.

    Raises:
        StateError: objects of the function make variables only at their first use.

    Examples:
        >>> import jax, jax.numpy as jnp, spmd
        >>> weight = spmd.Variable(jnp.ones(3), name="weight")
        >>> def train(x):
        ...     loss, gradient = jax.value_and_grad(lambda w: (w * x).sum())(weight.value)
        ...     weight.value = weight.value - 0.5 * gradient
        ...     return loss
        >>> pure, state = spmd.lift(train)
        >>> step = jax.jit(pure, donate_argnums=0)
        >>> loss, state = step(state, jnp.arange(3.0))
        >>> float(loss), state["weight"].tolist(), weight.value.tolist()
        (3.0, [1.0, 0.5, 0.0], [1.0, 1.0, 1.0])
        >>> pure.write(state)
        >>> weight.value.tolist()
        [1.0, 0.5, 0.0]

    Source: `flax.nnx.split` and `merge`, for whatever a function reaches.
    """
    pure = PureFunction(function, state)
    return pure, pure.read()


def _unique(names: Sequence[str]) -> list[str]:
    """Numbers the names that several variables have."""
    found: list[str] = []
    for name in names:
        count = sum(one == name or one.startswith(f"{name}#") for one in found)
        found.append(f"{name}#{count + 1}" if count else name)
    return found
