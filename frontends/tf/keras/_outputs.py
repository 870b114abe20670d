"""What callbacks of `fit` write when all workers name the same path: only the first worker's files are there.

TensorFlow's scripts give the other workers paths of their own; those stay as they are.
"""

import contextlib
import functools
import inspect
import json
import os
import tempfile
from collections.abc import Callable, Generator, Iterable
from typing import Any

import jax
import keras

from spmd.cluster.store import all_gather_small
from spmd.keras_trainer import mesh_of
from spmd.processes import spans_processes

_PATHS = (
    (keras.callbacks.CSVLogger, "filename"),
    (keras.callbacks.ModelCheckpoint, "filepath"),
    (keras.callbacks.TensorBoard, "log_dir"),
)


def install() -> None:
    """Changes Keras; once more changes nothing."""
    trainer = next(cls for cls in keras.Model.__mro__ if "fit" in vars(cls))
    if not hasattr(trainer.fit, "has_one_writer"):
        trainer.fit = _with_one_writer(trainer.fit)


def _with_one_writer(fit: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(fit)

    @functools.wraps(fit)
    def fit_(self: Any, *args: Any, **kwargs: Any) -> Any:
        mesh = mesh_of(self)
        if mesh is None or not spans_processes(mesh):
            return fit(self, *args, **kwargs)
        callbacks = signature.bind(self, *args, **kwargs).arguments.get("callbacks")
        with _one_writer(_listed(callbacks)):
            result = fit(self, *args, **kwargs)
        all_gather_small("keras/fit", "")  # whoever goes on finds the first worker's files
        return result

    vars(fit_)["has_one_writer"] = True
    return fit_


def _listed(callbacks: Any) -> list[Any]:
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks.callbacks
    return list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]


@contextlib.contextmanager
def _one_writer(callbacks: list[Any]) -> Generator[None]:
    """Lets other workers than the first write what it writes, too, to a folder that is deleted."""
    mine = [
        (callback, name, os.path.abspath(os.fspath(getattr(callback, name))))
        for callback in callbacks
        for kind, name in _PATHS
        if isinstance(callback, kind)
    ]
    told = all_gather_small("keras/outputs", json.dumps([path for _, _, path in mine]))
    if jax.process_index() == 0:
        yield
        return
    of_first = set(json.loads(told[0]))
    before = [
        (callback, name, getattr(callback, name))
        for callback, name, path in mine
        if path in of_first
    ]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            for number, (callback, name, path) in enumerate(before):
                own = os.path.join(folder, str(number), os.path.basename(os.path.abspath(path)))
                os.makedirs(os.path.dirname(own))
                setattr(callback, name, own)
            yield
        finally:
            for callback, name, path in before:
                setattr(callback, name, path)
