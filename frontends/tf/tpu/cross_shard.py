"""`tf.compat.v1.tpu`: sums over the cores of a TPU, and the optimizer that makes them."""

import contextlib
from collections.abc import Callable, Generator, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import Nested, TensorLike, VariableLike
from frontends.tf.compat.v1.losses import Reduction
from frontends.tf.compat.v1.train.optimizer import Optimizer, summed_already
from frontends.tf.compat.v1.variable_scopes import VariableScope, variable_scope
from frontends.tf.distribute.scope import get_strategy
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.variable import Variable
from spmd.replica import all_reduce, in_replica


class CrossShardOptimizer(Optimizer):
    """Adds up gradients over replicas before it hands them to another optimizer, so that it sees the same gradients on every replica.

    Source: `tf.compat.v1.tpu.CrossShardOptimizer`.
    """

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: object = None,
    ) -> None:
        """Wraps an optimizer.

        Args:
            opt: one of TensorFlow 1.
            reduction: `MEAN`, for which `compute_gradients` divides the loss by the number of replicas, or `SUM`.
            name: of the operations.
            group_assignment: must be None: sums are over all replicas.

        Raises:
            ValueError: there is no such reduction.
            TypeError: the optimizer is another's.
            NotImplementedError: groups of replicas are named.
        """
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(
                f"Argument `reduction` should be one of tf.losses.Reduction.SUM and MEAN. Received: {reduction}"
            )
        if not isinstance(opt, Optimizer):
            raise TypeError(
                f"CrossShardOptimizer wraps an optimizer of tf.compat.v1.train, but got {opt!r}. Those of Keras add up gradients "
                "themselves: leave it out."
            )
        if group_assignment:
            raise NotImplementedError(
                "CrossShardOptimizer(group_assignment=...) is not supported: gradients are sums over all replicas. Leave it out."
            )
        super().__init__(False, name)
        self._opt, self._reduction = opt, reduction

    def compute_gradients(self, loss: TensorLike, var_list: Nested = None, **kwargs: Any) -> Any:
        """Computes the gradients of this replica; see `tf.compat.v1.train.Optimizer.compute_gradients`.

        Raises:
            ValueError: there are no variables.

        Source: `tf.compat.v1.tpu.CrossShardOptimizer.compute_gradients`.
        """
        if self._reduction == Reduction.MEAN and in_replica():
            loss = loss * (1.0 / get_strategy().num_replicas_in_sync)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, VariableLike]],
        global_step: VariableLike | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Any:
        """Adds up gradients, and applies the sums; see `tf.compat.v1.train.Optimizer.apply_gradients`.

        Raises:
            ValueError: there are no variables, or no gradients.

        Source: `tf.compat.v1.tpu.CrossShardOptimizer.apply_gradients`.
        """
        pairs = list(grads_and_vars)
        if not skip_gradients_aggregation:
            pairs = [
                (None if gradient is None else cross_replica_sum(gradient), variable)
                for gradient, variable in pairs
            ]
        with summed_already():
            return self._opt.apply_gradients(pairs, global_step, name)

    def get_slot(self, var: VariableLike, name: str) -> Variable | None:
        """Returns a slot of the optimizer within.

        Source: `tf.compat.v1.tpu.CrossShardOptimizer.get_slot`.
        """
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Lists the slots of the optimizer within.

        Source: `tf.compat.v1.tpu.CrossShardOptimizer.get_slot_names`.
        """
        return self._opt.get_slot_names()

    def variables(self) -> list[Variable]:
        """Lists the variables of the optimizer within.

        Source: `tf.compat.v1.tpu.CrossShardOptimizer.variables`.
        """
        return self._opt.variables()


def cross_replica_sum(
    x: TensorLike, group_assignment: object = None, name: str | None = None
) -> jax.Array:
    """Adds up a tensor over the replicas; one that is in none stays as it is.

    Args:
        x: a tensor, of the same shape on each.
        group_assignment: must be None.

    Raises:
        NotImplementedError: groups of replicas are named.

    Source: `tf.compat.v1.tpu.cross_replica_sum`.
    """
    if group_assignment:
        raise NotImplementedError(
            "cross_replica_sum(group_assignment=...) is not supported: it sums over all replicas. Leave it out."
        )
    x = convert_to_tensor(x)
    return all_reduce(x, "sum") if in_replica() else x


@contextlib.contextmanager
def bfloat16_scope(name: str | None = None) -> Generator[VariableScope]:
    """Opens a variable scope whose variables are float32 where bfloat16 is asked for; who asks gets them as bfloat16.

    Args:
        name: of the scope; None for the one around.

    Yields:
        The scope.

    Source: `tf.compat.v1.tpu.bfloat16_scope`.
    """
    with variable_scope(name or "", custom_getter=_as_bfloat16) as scope:
        yield scope


def _as_bfloat16(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    is_short = kwargs["dtype"] == jnp.bfloat16
    if not is_short:
        return getter(*args, **kwargs)
    variable = getter(*args, **{**kwargs, "dtype": jnp.float32})
    return convert_to_tensor(variable).astype(jnp.bfloat16)
