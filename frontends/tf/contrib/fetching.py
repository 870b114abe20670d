"""Tensors that train when they are fetched, which functions of `tf.contrib` return for operations."""

from typing import Any

import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.graph import current_graph


def fetched_with(operation: Any, tensor: TensorLike, name: str) -> Any:
    """Returns a tensor that has an operation run when it is fetched; outside of a model function, where it has run, as it is.

    Args:
        operation: of the model function.
        tensor: what is returned.
        name: of what is returned.
    """
    graph = current_graph()
    if graph is None:
        return tensor
    with graph.controlled([operation]):
        return graph.named(jnp.asarray(tensor), name)
