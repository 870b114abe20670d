"""Columns of `Texts` behind their fingerprints: what layers of a model made of the texts, on the host."""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.feature_column import Texts

# The first columns are the fingerprint.
FINGERPRINT = 2
# The layers of the model that reads or is called, and where their columns are. Models may share layers, so a layer cannot keep its place.
PLACES: ContextVar[Mapping[Any, slice]] = ContextVar("text_places", default=MappingProxyType({}))


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
    place = PLACES.get().get(layer)
    if place is None:
        raise ValueError(
            f"{layer.name}: the texts decide how wide the results of several layers of this model are, and a batch has room for one "
            "such layer. Set output_sequence_length in the others."
        )
    found = jnp.asarray(texts.words)[..., place]
    return found[..., 0, :] if found.ndim > 2 and found.shape[-2] == 1 else found
