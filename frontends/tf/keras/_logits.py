"""Cross-entropies of what a sigmoid or softmax gave: from its logits, as Keras computes them on TensorFlow.

Where an activation saturates, its own gradient is zero and training would stop. Keras keeps the logits as an attribute
of the output, which arrays of JAX cannot have. Only the output itself is known: the metrics of `fit`, which get the predictions
out of the gradient's trace, see probabilities.

Internals of Keras that this touches: the functions of `keras.src.backend.nn`; tests/frontends/tf/keras/test_logits.py runs it
on every supported version.
"""

import weakref
from typing import Any

import jax
import jax.numpy as jnp

from spmd.integrations.keras import Method

# By the id of an activation's output; an entry goes with its output.
_LOGITS: dict[int, tuple[weakref.ref[Any], Any]] = {}


def keep_logits(activate: Method, /, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Wraps `sigmoid` and `softmax`: notes what the output was computed from."""
    output = activate(x, *args, **kwargs)
    if isinstance(output, jax.Array):
        identity = id(output)
        reference = weakref.ref(output, lambda _: _LOGITS.pop(identity, None))
        _LOGITS[identity] = reference, jnp.asarray(x)
    return output


def use_logits(
    cross_entropy: Method,
    /,
    target: Any,
    output: Any,
    from_logits: bool = False,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Wraps the cross-entropies: computes them from the logits, if the output is that of an activation."""
    reference, logits = _LOGITS.get(id(output), (None, None))
    if not from_logits and reference is not None and reference() is output:
        output, from_logits = logits, True
    return cross_entropy(target, output, from_logits, *args, **kwargs)
