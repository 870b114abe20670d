"""Columns of `Texts` behind their fingerprints: what layers of a model made of the texts, on the host.

A *layout* tells which of the columns are a layer's. Texts decide how wide the results of some layers are, and a step knows nothing of
a batch but its shape: so each combination of widths gets a number of columns of its own, with columns of zeros behind them if need be.
"""

import itertools
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.feature_column import Texts

# The first columns are the fingerprint.
FINGERPRINT = 2


class Layout:
    """Which columns are each layer's, in the batches that a model reads.

    Attributes:
        layers: of the model, those that make columns.
    """

    def __init__(self, layers: Sequence[Any]) -> None:
        """Makes the layout of layers, which have an attribute `width`: a number of columns, or None if the texts decide."""
        self.layers = tuple(layers)
        self._widths: dict[int, tuple[int, ...]] = {}
        if not self.is_open:
            self._count(tuple(layer.width for layer in self.layers))

    @property
    def is_open(self) -> bool:
        """Tells whether texts decide how wide a result is, so that batches have to be made before."""
        return any(layer.width is None for layer in self.layers)

    def join(self, results: Sequence[np.ndarray]) -> np.ndarray:
        """Puts the results of all layers beside each other.

        Args:
            results: of each layer, uint32 of the shape [texts, width].
        """
        widths = tuple(one.shape[1] for one in results)
        behind = self._count(widths) - sum(widths)
        return np.pad(np.concatenate(results, axis=1), [(0, 0), (0, behind)])

    def _count(self, widths: tuple[int, ...]) -> int:
        """Returns how many columns these widths take, which no others do."""
        found = (count for count in itertools.count(sum(widths)) if self._are(widths, count))
        return next(found)

    def _are(self, widths: tuple[int, ...], count: int) -> bool:
        return self._widths.setdefault(count, widths) == widths

    def place(self, layer: Any, count: int) -> slice | None:
        """Returns where the columns of a layer are, of `count` columns; None if it has none."""
        widths = self._widths.get(count)
        if widths is None or layer not in self.layers:
            return None
        index = self.layers.index(layer)
        start = FINGERPRINT + sum(widths[:index])
        return slice(start, start + widths[index])


# Of the model that reads or is called. Models may share layers, so a layer cannot keep its place.
LAYOUT: ContextVar[Layout] = ContextVar("text_layout", default=Layout(()))  # noqa: B039


def own_columns(layer: Any, texts: Texts) -> jax.Array | None:
    """Returns what a layer made of the texts of a batch, uint32; None if they came another way.

    Args:
        layer: of the model that reads them.
        texts: of a step.

    Raises:
        ValueError: the layer is not one of the model's.
    """
    width = texts.words.shape[-1]
    if width == FINGERPRINT:
        return None
    place = LAYOUT.get().place(layer, width - FINGERPRINT)
    if place is None:
        raise ValueError(
            f"{layer.name}: a step cannot read texts, and the model that it belongs to does not have this layer, so that the host "
            f"has not split the texts of the batch. Make it an attribute of the model: self.{layer.name} = the layer."
        )
    found = jnp.asarray(texts.words)[..., place]
    return found[..., 0, :] if found.ndim > 2 and found.shape[-2] == 1 else found
