"""Output files of callbacks: if all workers name the same path, only the first worker writes there.

Paths of their own, which TensorFlow's scripts give the other workers, are left alone.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Generator
from typing import Any

import jax
import keras

from spmd.cluster import all_gather_small
from spmd.files import absolute

_PATHS = (
    (keras.callbacks.CSVLogger, "filename"),
    (keras.callbacks.ModelCheckpoint, "filepath"),
    (keras.callbacks.TensorBoard, "log_dir"),
)


@contextlib.contextmanager
def one_writer(callbacks: Any) -> Generator[None]:
    """Redirects what other workers would write to the first one's paths to a temporary folder.

    All workers must call it. It blocks, at the end until the first one's files are complete.

    Args:
        callbacks: as `fit` takes them.
    """
    if isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks = callbacks.callbacks
    mine = [
        (callback, name, absolute(getattr(callback, name)))
        for callback in keras.tree.flatten(callbacks)
        for kind, name in _PATHS
        if isinstance(callback, kind)
    ]
    told = all_gather_small("keras/outputs", json.dumps([path for _, _, path in mine]))
    of_first = set(json.loads(told[0]))
    before = [
        (callback, name, getattr(callback, name))
        for callback, name, path in mine
        if path in of_first and jax.process_index() > 0
    ]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            for number, (callback, name, path) in enumerate(before):
                own = os.path.join(folder, str(number), os.path.basename(path))
                os.makedirs(os.path.dirname(own))
                setattr(callback, name, own)
            yield
        finally:
            for callback, name, path in before:
                setattr(callback, name, path)
    all_gather_small("keras/fit", "")  # after this, all workers find the first one's files
