"""Out-of-range labels: their loss is NaN, as with TensorFlow on a GPU; on a processor TensorFlow raises an error.

Keras on JAX has a loss of 0 for them, so that a model learns nothing from such rows and its loss looks better than it is.

Internals of Keras that this touches: `keras.src.backend.nn.sparse_categorical_crossentropy`;
tests/frontends/tf/keras/test_unknown_classes.py runs it on every supported version.
"""

from typing import Any

import jax.numpy as jnp

from spmd.integrations.keras import Method


def lose_nan(
    cross_entropy: Method,
    /,
    target: Any,
    output: Any,
    from_logits: bool = False,
    axis: int = -1,
) -> Any:
    """Wraps `sparse_categorical_crossentropy`.

    Returns:
        The losses, NaN for labels below 0 and above the last class.
    """
    losses = cross_entropy(target, output, from_logits, axis)
    labels = jnp.reshape(jnp.asarray(target), losses.shape)
    if jnp.issubdtype(labels.dtype, jnp.integer):
        labels = labels.astype(jnp.int32)  # a narrow type may not hold the number of classes
    is_class = (labels >= 0) & (labels < jnp.shape(output)[axis])
    return jnp.where(is_class, losses, jnp.nan)
