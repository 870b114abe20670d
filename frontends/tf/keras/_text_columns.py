"""Columns of `Texts` behind their fingerprints: what layers of a model made of the texts, on the host."""

import weakref
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.feature_column import Texts

# The first columns are the fingerprint.
FINGERPRINT = 2
# Where the columns of a layer are; Keras would look into an attribute of the layer.
PLACES: weakref.WeakKeyDictionary[Any, slice] = weakref.WeakKeyDictionary()


def own_columns(layer: Any, texts: Texts) -> jax.Array | None:
    """Returns what a layer made of the texts of a batch, uint32; None if they came another way.

    Args:
        layer: of the model that reads them.
        texts: of a step.

    Raises:
        ValueError: the texts decide the widths of several layers.
    """
    if texts.words.shape[-1] == FINGERPRINT:
        return None
    place = PLACES.get(layer)
    if place is None:
        raise ValueError(
            f"{layer.name}: the texts decide how wide the results of several layers of this model are, and a batch has room for one "
            "such layer. Set output_sequence_length in the others."
        )
    found = jnp.asarray(texts.words)[..., place]
    return found[..., 0, :] if found.ndim > 2 and found.shape[-2] == 1 else found
