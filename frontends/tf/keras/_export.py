"""Keras's functions that save and load models, for directories as well: `model.save("saved_model")`."""

import importlib.util
from typing import Any

import keras

from frontends.tf._typing import Nested
from frontends.tf.keras._artifact import read_model, write_model
from spmd import export
from spmd.files import path_of, read_here
from spmd.integrations.keras import Method
from spmd.typing import StrPath

# What Keras writes and reads itself.
_FILES = (".keras", ".h5", ".hdf5")
_HUGGING_FACE = "hf://"


def save_model(
    model: keras.Model,
    filepath: StrPath,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: object = None,
    options: object = None,
    save_traces: bool = True,
    **kwargs: object,
) -> None:
    """Saves a model: as Keras does if the path ends in `.keras` or `.h5`, else as a directory.

    Args:
        model: a `keras.Model`.
        filepath: where.
        overwrite: whether what is there is replaced.
        include_optimizer: whether the state of the optimizer is written.
        save_format: `"tf"` writes a directory under any path; else the path decides.
        signatures: see `tf.saved_model.save`.
        options: accepted.
        save_traces: accepted; the program is always written.
        **kwargs: other options of Keras's `save_model`.

    Raises:
        FileExistsError: the directory exists and `overwrite` is False.
        ExportError: see `tf.saved_model.save`.

    Source: `tf.keras.models.save_model`.
    """
    target: Any = model
    target.save(
        filepath,
        overwrite=overwrite,
        include_optimizer=include_optimizer,
        save_format=save_format,
        signatures=signatures,
        options=options,
        save_traces=save_traces,
        **kwargs,
    )


def load_model(
    filepath: StrPath,
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool = True,
    options: object = None,
) -> Any:
    """Loads a model that `save_model` or `tf.saved_model.save` wrote.

    Args:
        filepath: where it is.
        custom_objects: classes and functions of the model that are not Keras's, by name.
        compile: whether it is compiled as it was when it was saved.
        safe_mode: False also runs bytecode (of `Lambda` layers), which can do anything.
        options: accepted.

    Returns:
        A `keras.Model`.

    Raises:
        ExportError: the directory is damaged, or was written by TensorFlow.

    Source: `tf.keras.models.load_model`.
    """
    if str(filepath).startswith(_HUGGING_FACE):  # Keras's own
        return keras.saving.load_model(filepath, custom_objects, compile, safe_mode)
    folder = path_of(filepath)
    if export.is_artifact(folder) or (folder / "saved_model.pb").exists():
        return read_model(folder, custom_objects, compile, safe_mode)
    with read_here(filepath) as here:
        return keras.saving.load_model(here, custom_objects, compile, safe_mode)


def export_saved_model(
    model: keras.Model,
    saved_model_path: StrPath,
    custom_objects: dict[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Nested = None,
    serving_only: bool = False,
) -> None:
    """Writes a model as `tf.saved_model.save` does.

    Args:
        model: a built `keras.Model`.
        saved_model_path: the directory.
        custom_objects: accepted; Keras writes their names.
        as_text: accepted; the manifest is text.
        input_signature: a `tf.TensorSpec` for each input, in the structure that the model takes (a tuple
            stands for several arguments); None for what the model was built with.
        serving_only: leaves out the state of the optimizer.

    Raises:
        ExportError: see `tf.saved_model.save`.

    Source: `tf.keras.experimental.export_saved_model`.
    """
    write_model(model, saved_model_path, not serving_only, input_signature)


def load_from_saved_model(
    saved_model_path: StrPath, custom_objects: dict[str, Any] | None = None
) -> Any:
    """Loads a model from a directory that `export_saved_model` wrote.

    Args:
        saved_model_path: the directory.
        custom_objects: classes and functions of the model that are not Keras's, by name.

    Returns:
        A `keras.Model`, compiled if it was; in a strategy's scope, one of that strategy.

    Raises:
        ExportError: see `tf.keras.models.load_model`.

    Source: `tf.keras.experimental.load_from_saved_model`.
    """
    return read_model(saved_model_path, custom_objects)


def export_by_tensorflow(
    export_: Method,
    /,
    self: keras.Model,
    filepath: StrPath,
    format: str = "tf_saved_model",
    *args: object,
    **kwargs: object,
) -> None:
    """Wraps `Model.export`: says what else there is where TensorFlow, which writes a SavedModel, is not installed.

    Raises:
        ImportError: it is not.
    """
    if format == "tf_saved_model" and importlib.util.find_spec("tensorflow") is None:
        raise ImportError(
            "model.export writes TensorFlow's SavedModel, for which TensorFlow must be installed: "
            'pip install "jaxtribute[savedmodel]". Without it, write what tf.saved_model.load and '
            f"tf.keras.models.load_model of jaxtribute read: tf.saved_model.save(model, {str(filepath)!r})."
        )
    export_(self, filepath, format, *args, **kwargs)


NAMES = {
    "experimental": {
        "export_saved_model": export_saved_model,
        "load_from_saved_model": load_from_saved_model,
    },
    "models": {"load_model": load_model, "save_model": save_model},
    "saving": {"load_model": load_model, "save_model": save_model},
}


def save_as_directory(
    save: Method,
    /,
    self: keras.Model,
    filepath: StrPath,
    overwrite: bool = True,
    zipped: bool | None = None,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: object = None,
    options: object = None,
    save_traces: bool = True,
    **kwargs: object,
) -> None:
    """Wraps `Model.save`: a path without an ending becomes a directory, as of `tf.saved_model.save`."""
    own = (
        zipped is False or str(filepath).endswith(_FILES) or str(filepath).startswith(_HUGGING_FACE)
    )
    if own and save_format != "tf":
        if str(filepath).endswith((".h5", ".hdf5")):
            kwargs["include_optimizer"] = include_optimizer
        save(self, filepath, overwrite=overwrite, zipped=zipped, **kwargs)
        return
    if not overwrite and path_of(filepath).exists():
        raise FileExistsError(
            f"{filepath} exists, and overwrite=False was given. Choose another path, or leave it out."
        )
    write_model(self, filepath, include_optimizer, signatures=signatures)
