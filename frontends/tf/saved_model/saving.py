"""`tf.saved_model.save`."""

from frontends.tf.saved_model.options import SaveOptions
from spmd.typing import StrPath


def save(
    obj: object,
    export_dir: StrPath,
    signatures: object = None,
    options: SaveOptions | None = None,
) -> None:
    """Writes a Keras model to a directory. Blocks until it is on disk; only one process must call it.

    What differs here: the directory holds the prediction as a StableHLO program, under the signature
    `serving_default`, with the weights, the configuration and the optimizer's state. Only Keras models are saved. A
    concurrent reader finds the old model or the new one.

    Args:
        obj: a `tf.keras.Model` that is built; any strategy, or none.
        export_dir: the directory; an older saved model in it is replaced.
        signatures: must be None: the signature is the model's call.

    Raises:
        TypeError: the object is not a Keras model.
        ValueError: signatures were given.
        ExportError: the model is not built, cannot be exported, or the directory is not a saved model.

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
    # Whoever has a model has Keras, but loading needs none.
    from frontends.tf.keras._artifact import write_model

    write_model(obj, export_dir, signatures=signatures)
