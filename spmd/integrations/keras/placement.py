"""Where a Keras model's batches run: the mesh that a model belongs to."""

import dataclasses
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import keras
from jax.sharding import Mesh

from spmd.errors import StateError
from spmd.integrations.keras.typing import Batch, Method, Model
from spmd.state import adapters
from spmd.step import run
from spmd.typing import PyTree, Stateful


class BatchLoop(Protocol):
    """What Keras's loops call with their state and an iterator over batches."""

    def start(self) -> None:
        """Prepares for other data."""
        ...

    def __call__(self, state: PyTree, iterator: Iterator[Batch]) -> tuple[PyTree, PyTree]:
        """Runs the next batches; returns the result, and the state."""
        ...


@dataclasses.dataclass(frozen=True)
class Placement:
    """Where a model's batches run.

    Attributes:
        mesh: the devices, one replica each.
        run: calls a function in every replica, inside of a step; a front end adds its own context.
        state: further stateful objects that steps may reach.
        train: makes what Keras's training loop calls, of the model and of what runs its batches; None for the latter.
        elsewhere: makes what Keras's loops call if all batches run in other processes: of `"train"`, `"test"` or
            `"predict"`, and the model.
    """

    mesh: Mesh
    run: Callable[..., Any] = run
    state: Sequence[Stateful] = ()
    train: Callable[[Model, Any], BatchLoop] | None = None
    elsewhere: Callable[[str, Model], BatchLoop] | None = None


_PLACEMENTS: weakref.WeakKeyDictionary[Model, Placement] = weakref.WeakKeyDictionary()
_DEFAULT: list[Callable[[], Placement | None]] = [lambda: None]


def distribute_model(model: Model, mesh: Mesh) -> Model:
    """Makes `fit`, `evaluate` and `predict` of a Keras model run on all replicas of a mesh.

    Args:
        model: a `keras.Model`, compiled or not.
        mesh: the devices.

    Returns:
        The model.

    Raises:
        StateError: Keras does not run on JAX.

    Examples:
        >>> import keras, numpy as np, spmd
        >>> from spmd.integrations.keras import distribute_model
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model = distribute_model(model, spmd.make_mesh(["cpu:0", "cpu:1"]))
        >>> model.compile("sgd", "mse")
        >>> x = np.ones((5, 3), np.float32)
        >>> history = model.fit(x, x[:, :1], batch_size=4, verbose=0)
        >>> list(history.history), model.predict(x, verbose=0).shape
        (['loss'], (5, 1))

    Source: `tf.distribute.Strategy.scope`, around a Keras model.
    """
    place_model(model, Placement(mesh))
    return model


def place_model(model: Model, placement: Placement) -> None:
    """Places a model: its batches run there from now on.

    Args:
        model: a `keras.Model`.
        placement: where.

    Raises:
        StateError: Keras does not run on JAX.
    """
    adapters()  # applies the patches that placed models need, if no step has yet
    backend = keras.backend.backend()
    if backend != "jax":
        raise StateError(
            f"Models train on replicas with Keras on the backend 'jax', but Keras was imported with {backend!r}. "
            "Choose JAX before Python starts: export KERAS_BACKEND=jax"
        )
    _PLACEMENTS[model] = placement
    model.train_function = model.test_function = model.predict_function = None


def note_placement(model: Model, placement: Placement) -> None:
    """Places a model that has run nowhere yet, and whose attributes cannot be set yet."""
    _PLACEMENTS[model] = placement


def placement_of(model: Model) -> Placement | None:
    """Returns where a model's batches run; None if Keras runs them itself."""
    return _PLACEMENTS.get(model)


def mesh_of(model: Model) -> Mesh | None:
    """Returns the mesh that a model runs on; None if Keras runs it itself."""
    placement = _PLACEMENTS.get(model)
    return None if placement is None else placement.mesh


def place_models(default: Callable[[], Placement | None]) -> None:
    """Sets the placement of models that are made from now on.

    Args:
        default: called for each new model; None leaves the model to Keras.
    """
    _DEFAULT[0] = default


def place_new_model(make: Method, /, self: Model) -> None:
    """Wraps `Trainer.__init__`: places a new model where `place_models` says."""
    make(self)
    placement = _DEFAULT[0]()
    if placement is not None:
        _PLACEMENTS[self] = placement
