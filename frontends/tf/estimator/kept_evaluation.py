"""What an evaluation leaves for the next one of the same estimator: a step that is compiled, and its variables."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.estimator.model_step import ModelStep
from frontends.tf.graph import VariableStore
from spmd.step import function_key
from spmd.typing import PyTree


def evaluation_key(
    function: Callable[..., Any], params: object, strategy: object, batch: PyTree
) -> Hashable:
    """Makes a key that is equal for evaluations that trace the same.

    Args:
        function: the model function; see `spmd.step.function_key` for what of it counts.
        params: what it is given; what `repr` shows of them counts.
        strategy: of the evaluation.
        batch: the first one; its structure, shapes and types count.
    """
    leaves, structure = jax.tree.flatten(batch)
    kinds = tuple((jnp.shape(leaf), str(getattr(leaf, "dtype", type(leaf)))) for leaf in leaves)
    return function_key(function), repr(params), id(strategy), structure, kinds


class KeptEvaluation:
    """A traced step, and the store of its variables.

    Attributes:
        key: see `evaluation_key`.
        store: of the variables.
        step: on these.
    """

    def __init__(self, key: Hashable, store: VariableStore, step: ModelStep, strategy: Any) -> None:
        """Takes what was traced, before a step has run."""
        self.key, self.store, self.step = key, store, step
        self._strategy = strategy  # whose id is in the key
        local = [store.variables[name] for name in store.local]
        # Values that replicas add up could not be given back as they were, unless there are none.
        zero = all(
            not np.any(np.asarray(own))
            for one in local
            for own in strategy.experimental_local_results(one)
        )
        # A hook that the model function makes may remember what it has seen, and a writer belongs to one evaluation.
        self.is_usable = zero and not step.made.spec.evaluation_hooks and not store.writers

    def serves(self, key: Hashable, path: str | None, values: Mapping[str, Any] | None) -> bool:
        """Tells whether an evaluation can use it: it must give all variables their values.

        Args:
            key: of the evaluation.
            path: its checkpoint, or None.
            values: its values by name, or None.
        """
        given = path is not None if values is None else self.store.saved().keys() <= values.keys()
        return given and key == self.key

    def reset(self) -> None:
        """Sets the variables that no checkpoint holds to zero, as they were."""
        for name in self.store.local:
            variable = self.store.variables[name]
            variable.assign(jnp.zeros(variable.shape, variable.dtype))
