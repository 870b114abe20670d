"""Explains why a path is not a checkpoint."""

import contextlib
import os
from collections.abc import Iterator

from spmd.checkpoint import CheckpointNotFoundError
from spmd.files import path_of
from spmd.typing import StrPath


def tensorflow_explanation(path: str) -> str | None:
    """Says how to bring over what TensorFlow wrote under a path; None if it wrote nothing there."""
    if not path_of(f"{path}.index").exists():
        return None
    return (
        f"{path} is a checkpoint that TensorFlow wrote, and objects are not restored from these. To take the weights of a model of "
        "Keras along, load it there, call model.save_weights('w.weights.h5'), and here model.load_weights('w.weights.h5'). Values by "
        f"the names of variables are read with tf.train.load_checkpoint({path!r}), tf.train.init_from_checkpoint, or warm_start_from of "
        "an estimator. Keep new checkpoints in another folder."
    )


@contextlib.contextmanager
def explained(path: StrPath | None) -> Iterator[None]:
    """Lets the error that there is no checkpoint say what the path is instead.

    Raises:
        FileNotFoundError: there is no checkpoint.
    """
    try:
        yield
    except CheckpointNotFoundError as error:
        name = os.fspath(path or "")
        explanation = tensorflow_explanation(name)
        if path_of(f"{name}.weights.h5").exists():
            explanation = f"{name} are the weights of a Keras model: load them with model.load_weights({name!r})."
        if explanation is None:
            raise
        raise CheckpointNotFoundError(explanation) from error
