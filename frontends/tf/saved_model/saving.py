"""`tf.saved_model.save`."""

import os
from typing import Any

from frontends.tf.saved_model.options import SaveOptions


def save(
    obj: Any,
    export_dir: str | os.PathLike[str],
    signatures: Any = None,
    options: SaveOptions | None = None,
) -> None:
    """Writes a Keras model to a directory. Blocks until it is on disk; one process is to call it.

    The directory holds what the model predicts as a program (dropout is off, moving averages are used) under
    the signature `serving_default`, its weights, its configuration and the state of its optimizer. It
    can be read while it is written anew: whoever reads finds the old model or the new one.

    Args:
        obj: a `tf.keras.Model` that is built; any strategy, or none.
        export_dir: the directory; an older saved model in it is replaced.
        signatures: must be None: the signature is the model's call.
        options: accepted.

    Raises:
        TypeError: the object is no Keras model.
        ValueError: signatures were given.
        ExportError: the model is not built, cannot be exported, or the directory holds something else.

    Examples:
        >>> import tempfile
        >>> from frontends import tf
        >>> model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tf.saved_model.save(model, folder)
        ...     serve = tf.saved_model.load(folder).signatures["serving_default"]
        >>> serve(inputs=tf.ones([5, 3]))["output_0"].shape
        (5, 2)

    Source: `tf.saved_model.save`.
    """
    del options
    # Who has a model has Keras; who only loads one may be without.
    from frontends.tf.keras import _export

    _export.write_model(obj, export_dir, signatures=signatures)
