"""The global step of TensorFlow 1: a variable that counts training steps."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import VariableLike
from frontends.tf.aggregation import VariableAggregation
from frontends.tf.compat.v1.collections import GraphKeys
from frontends.tf.compat.v1.variable_scopes import VariableScope, get_variable, variable_scope
from frontends.tf.dtypes import jax_dtype
from frontends.tf.gradient_sources import is_variable
from frontends.tf.graph import Graph, default_graph
from frontends.tf.variable import Variable


def create_global_step(graph: Graph | None = None) -> Variable:
    """Makes the global step, or finds the one that an estimator has: an integer, 0 at first.

    Args:
        graph: whose step it is; None for the one of this code.

    Raises:
        ValueError: the graph has one.

    Source: `tf.compat.v1.train.create_global_step`.
    """
    graph = default_graph() if graph is None else graph
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    entered = contextlib.nullcontext() if graph is default_graph() else graph.as_default()
    with entered, variable_scope(VariableScope()):  # the top: the name is whole
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=(),
            dtype=jax_dtype("int64"),
            initializer=_zero,
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )


def get_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step; None if there is none.

    Args:
        graph: whose step it is; None for the one of this code.

    Raises:
        TypeError: the collection `GLOBAL_STEP` holds something else.

    Source: `tf.compat.v1.train.get_global_step`.
    """
    found = (default_graph() if graph is None else graph).collections[GraphKeys.GLOBAL_STEP]
    if len(found) != 1:
        return None
    assert_global_step(found[0])
    return found[0]


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step; makes it if there is none.

    Source: `tf.compat.v1.train.get_or_create_global_step`.
    """
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor: Any) -> None:
    """Refuses what cannot count steps.

    Args:
        global_step_tensor: a variable or a tensor.

    Raises:
        TypeError: it is neither, or not a whole number.

    Source: `tf.compat.v1.train.assert_global_step`.
    """
    if not is_variable(global_step_tensor) and not isinstance(global_step_tensor, jax.Array):
        raise TypeError(
            f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.'
        )
    if not jnp.issubdtype(jnp.dtype(str(global_step_tensor.dtype)), jnp.integer):
        raise TypeError(
            f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}'
        )
    if tuple(global_step_tensor.shape):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


def global_step(sess: object, global_step_tensor: VariableLike) -> int:
    """Returns the value of the global step.

    Args:
        sess: without effect: there are no sessions.
        global_step_tensor: the step.

    Source: `tf.compat.v1.train.global_step`.
    """
    return int(global_step_tensor)


def _zero(shape: Any, dtype: str) -> jax.Array:
    return jnp.zeros(shape, dtype)
