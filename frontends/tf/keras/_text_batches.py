"""What a model's `TextVectorization` layers make of the texts of a batch, beside their fingerprints.

A compiled step cannot read texts. But the layers that split them stand before all else, so the host runs them on each batch that
`fit`, `evaluate` and `predict` read, and `Texts` take the results to the step as further columns. In the step a layer takes its own.
"""

import contextlib
import functools
import logging
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import Nested
from frontends.tf.feature_column import Texts, prepare
from frontends.tf.keras._text_columns import LAYOUT, Layout
from frontends.tf.keras._text_vectorization import TextVectorization
from spmd.assigned import assigned
from spmd.integrations.keras import Model
from spmd.replica import is_text

_LOGGER = logging.getLogger(__name__)
_WARNED: weakref.WeakSet[TextVectorization] = weakref.WeakSet()


@contextlib.contextmanager
def reading_texts_of(model: Model) -> Iterator[None]:
    """Has batches that Keras reads carry what the layers of a model make of texts."""
    with assigned(LAYOUT, _layout_of(model)):
        yield


@contextlib.contextmanager
def prepared_for(model: Model, inputs: Nested) -> Iterator[Nested]:
    """Prepares inputs that a model is called with in the block, if there are texts among other things.

    Keras tells tensors from other things by their class, so that it has to look into `Texts`: those of a graph do not let it.
    """
    leaves = jax.tree.leaves(inputs, is_leaf=_is_texts)
    if any(map(_is_texts, leaves)):
        yield jax.tree.map(
            lambda leaf: Texts(leaf.words) if _is_texts(leaf) else leaf, inputs, is_leaf=_is_texts
        )
    elif len(leaves) < 2 or not any(
        isinstance(leaf, np.ndarray) and is_text(leaf) for leaf in leaves
    ):
        yield inputs
    else:
        with reading_texts_of(model):
            yield jax.tree.map(jnp.asarray, preparation()(inputs))


def _is_texts(node: Any) -> bool:
    return isinstance(node, Texts)


def _layout_of(model: Model) -> Layout:
    """Returns the layout of a model, which keeps it: its compiled steps know it by numbers of columns."""
    found = (layer for layer in model._flatten_layers() if isinstance(layer, TextVectorization))
    layers = tuple(dict.fromkeys(found))
    kept = vars(model).get("_tf_text_layout")  # past Keras, which tracks attributes
    if kept is None or kept.layers != layers:
        kept = vars(model)["_tf_text_layout"] = Layout(layers)
    for layer in layers:
        if layer.width is None:
            _warn_once(layer)
    return kept


def width_is_open() -> bool:
    """Tells whether a layer pads the texts of a batch to the longest of them, so that batches have to be made before."""
    return LAYOUT.get().is_open


def preparation() -> Any:
    """Returns what makes of a batch what a step can take, for the model that is read for."""
    return functools.partial(_prepared, LAYOUT.get())


def _warn_once(layer: TextVectorization) -> None:
    if layer not in _WARNED:
        _WARNED.add(layer)
        _LOGGER.warning(
            "The layer %s has no output_sequence_length, so each batch is as wide as its longest text, and each width is compiled "
            "anew. Set output_sequence_length.",
            layer.name,
        )


def _prepared(layout: Layout, *components: Nested) -> Nested:
    beside = functools.partial(_columns, layout) if layout.layers else None
    return prepare(*components, beside=beside)


def _columns(layout: Layout, texts: np.ndarray) -> np.ndarray | None:
    if texts.ndim == 0 or texts.ndim > 2 or (texts.ndim == 2 and texts.shape[1] != 1):
        return None
    made = [np.asarray(layer.call(texts)) for layer in layout.layers]
    words = [
        one.astype(np.float32).view(np.uint32) if one.dtype.kind == "f" else one.astype(np.uint32)
        for one in made
    ]
    return layout.join([one.reshape(len(texts), -1) for one in words])
