"""`tf.saved_model.save`."""

from frontends.tf.module import Module
from frontends.tf.saved_model.modules import write_module
from frontends.tf.saved_model.options import SaveOptions
from spmd.typing import StrPath


def save(
    obj: object,
    export_dir: StrPath,
    signatures: object = None,
    options: SaveOptions | None = None,
) -> None:
    """Writes a Keras model or a `tf.Module` to a directory. Blocks until it is on disk; only one process must call it.

    What differs here: the directory holds StableHLO programs. Of a Keras model that is the prediction, under the
    signature `serving_default`, with the weights, the configuration and the optimizer's state. Of a module these are
    its methods, and those of its submodules, that are `tf.function`s: for their `input_signature`, else for the arguments
    that they were called with, but not by the replicas of a `MirroredStrategy` and its like. A method that uses variables
    outside of the module, such as those of an optimizer, is left out with a warning. A concurrent reader finds the old
    model or the new one.

    Args:
        obj: a `tf.keras.Model` that is built, or a `tf.Module`; any strategy, or none.
        export_dir: the directory; an older saved model in it is replaced.
        signatures: a `tf.function` with an `input_signature`, what `get_concrete_function` gives, or a dict of them by
            name. A Keras model without them has its call, as `serving_default`. Functions that take texts are left out, with a warning.

    Raises:
        TypeError: the object is neither, or signatures are no such functions.
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
    if isinstance(obj, Module):
        write_module(obj, export_dir, signatures)
        return
    # Whoever has a model has Keras, but loading needs none.
    from frontends.tf.keras._artifact import write_model

    write_model(obj, export_dir, signatures=signatures)
