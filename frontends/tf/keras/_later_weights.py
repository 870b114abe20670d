"""Weights that are loaded into a model before it has any: it gets them when it is built, as TensorFlow restores checkpoints.

Internals of Keras that this touches: `Layer._maybe_build` and `Trainer._symbolic_build`;
tests/frontends/tf/keras/test_later_weights.py runs it on every supported version.
"""

import warnings
import weakref
from collections.abc import Callable
from typing import Any

from keras.src.backend.common.stateless_scope import in_stateless_scope

from spmd.integrations.keras import KerasObject, Method

_LATER: "weakref.WeakKeyDictionary[Any, Callable[[], object]]" = weakref.WeakKeyDictionary()


def load_later(model: KerasObject, load: Callable[[], object]) -> None:
    """Has weights loaded when a model is built.

    Args:
        model: has not been built.
        load: loads its weights; holds no reference to the model. The last one counts.
    """
    _LATER[model] = load


def load_when_built(build: Method, /, self: KerasObject, *args: Any) -> None:
    """Wraps `Layer._maybe_build`: loads what `load_later` was told.

    Raises:
        ValueError: the weights are not those of the model.
    """
    is_new = not self.built
    build(self, *args)
    if is_new and not in_stateless_scope():  # there, `load_for_loop` follows
        _load(self)


def load_for_loop(build: Method, /, self: KerasObject, *args: Any, **kwargs: Any) -> None:
    """Wraps `Trainer._symbolic_build`, in which `fit` builds a model while it traces it.

    Raises:
        ValueError: the weights are not those of the model.
    """
    build(self, *args, **kwargs)
    _load(self)


def _load(model: KerasObject) -> None:
    if model.built and (load := _LATER.pop(model, None)) is not None:
        with warnings.catch_warnings():
            # By now the optimizer has been built, and the file may be that of a model without one.
            warnings.filterwarnings("ignore", message="Skipping variable loading for optimizer")
            load()
