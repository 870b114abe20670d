"""What a path is that is no checkpoint of ours."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from spmd.checkpoint import CheckpointNotFoundError


@contextlib.contextmanager
def explained(path: Any) -> Iterator[None]:
    """Says in an error that there is no checkpoint what the path is instead.

    Args:
        path: of the checkpoint.

    Raises:
        FileNotFoundError: there is none.
    """
    try:
        yield
    except CheckpointNotFoundError as error:
        name = os.fspath(path)
        if os.path.exists(f"{name}.weights.h5"):
            raise CheckpointNotFoundError(
                f"{name} are the weights of a Keras model: load them with model.load_weights({name!r})."
            ) from error
        if os.path.exists(f"{name}.index"):
            raise CheckpointNotFoundError(
                f"{name} is a checkpoint that TensorFlow wrote, which needs TensorFlow to be read. Keep new ones in "
                "another folder. To take weights along, call model.save_weights('w.weights.h5') in TensorFlow and "
                "model.load_weights('w.weights.h5') here."
            ) from error
        raise
