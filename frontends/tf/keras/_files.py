"""Weights under TensorFlow's paths: `model.save_weights("dir/ckpt")`, and `tf.train.latest_checkpoint`.

Keras 3 takes paths that end in `.weights.h5`. A *prefix*, a path with another ending, stands for such a file
without this ending, and the file `checkpoint` beside it names the latest prefix. A path that ends in `.h5` is a
file of Keras 2: either weights alone, which Keras 3 reads but refuses to write, or a model, whose optimizer Keras 3
does not restore.

A file is written beside its path, and renamed when it is complete: a task that is killed leaves the old file, and
tasks that write the same path at the same time leave the file of one of them.

Internals of Keras that this touches: `keras.src.legacy.saving`, which knows Keras 2's files;
tests/frontends/tf/keras/test_files.py runs it on every supported version.
"""

import contextlib
import os
import warnings
from collections.abc import Generator
from typing import Any

import h5py
import keras
from keras.src.legacy.saving import json_utils, legacy_h5_format, saving_utils

from frontends.tf.train._explanation import tensorflow_explanation
from frontends.tf.train.checkpoint_state import update_checkpoint_state
from spmd.cluster import process_id
from spmd.files import is_url, path_of, plain, read_here, written_here
from spmd.integrations.keras import Method
from spmd.source_lines import user_stacklevel
from spmd.typing import StrPath

_ENDING = ".weights.h5"
_KERAS_2 = (".h5", ".hdf5")
# Names of losses in files that Keras 3 does not know.
_LOSSES = {
    "mae": keras.losses.mean_absolute_error,
    "mape": keras.losses.mean_absolute_percentage_error,
    "mse": keras.losses.mean_squared_error,
    "msle": keras.losses.mean_squared_logarithmic_error,
}


class LoadStatus:
    """What `load_weights` of a prefix returns, for scripts that call its methods.

    Source: the status objects of `tf.train.Checkpoint.restore`.
    """

    def expect_partial(self) -> "LoadStatus":
        """Does nothing: there is no warning about unused values in the file."""
        return self

    def assert_existing_objects_matched(self) -> "LoadStatus":
        """Does nothing: `load_weights` raises if a weight of the model is missing."""
        return self


class ModelCheckpoint(keras.callbacks.ModelCheckpoint):
    """Keras's own callback, which here takes prefixes as well.

    Args:
        filepath: also a directory, for a SavedModel; with `save_weights_only=True` also a prefix, `"dir/ckpt_{epoch}"`, or a
            file of Keras 2, `"weights.h5"`.
        monitor: as in Keras, like all others.
        verbose: see there.
        save_best_only: see there.
        save_weights_only: see there.
        mode: see there.
        save_freq: see there.
        options: accepted.
        initial_value_threshold: see there.

    Raises:
        ValueError: Keras cannot save to the path.

    Examples:
        >>> from frontends import tf
        >>> callback = tf.keras.callbacks.ModelCheckpoint("ckpt_{epoch}", save_weights_only=True)
        >>> callback.filepath
        'ckpt_{epoch}'

    Source: `tf.keras.callbacks.ModelCheckpoint`.
    """

    def __init__(
        self,
        filepath: StrPath,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        options: object = None,
        initial_value_threshold: float | None = None,
    ) -> None:
        path = os.fspath(filepath)
        # Keras refuses such paths here, but saves by save_weights and save, which take them.
        taken = path
        if save_weights_only and (_is_prefix(path) or _is_keras_2(path)):
            taken = path + _ENDING
        elif not save_weights_only and _is_prefix(path):
            taken = f"{path}.keras"
        super().__init__(
            taken,
            monitor=monitor,
            verbose=verbose,
            save_best_only=save_best_only,
            save_weights_only=save_weights_only,
            mode=mode,
            save_freq=save_freq,
            initial_value_threshold=initial_value_threshold,
        )
        self.filepath = path


def _is_prefix(path: str) -> bool:
    return not path.endswith((*_KERAS_2, ".keras", ".weights.json"))


def _is_keras_2(path: str) -> bool:
    return path.endswith(_KERAS_2) and not path.endswith(_ENDING)


def save_under_prefix(
    save: Method,
    /,
    self: keras.Model,
    filepath: StrPath,
    overwrite: bool = True,
    *args: object,
    save_format: str | None = None,
    options: object = None,
    **kwargs: object,
) -> None:
    """Wraps `Model.save_weights`: takes prefixes, and paths of Keras 2's files."""
    path = os.fspath(filepath)
    is_prefix = _is_prefix(path)
    if save_format not in (None, "tf" if is_prefix else "h5"):
        raise ValueError(
            f"save_format is {save_format!r}, but the path is {path!r}. The path decides: 'h5' is for paths "
            "that end in .h5, 'tf' for others. Leave save_format out."
        )
    if _is_keras_2(path):
        _save_as_keras_2(self, path, overwrite)
    elif is_prefix:
        path_of(os.path.dirname(path) or ".").mkdir(parents=True, exist_ok=True)
        save_whole(save, self, path + _ENDING, overwrite, *args, **kwargs)
        update_checkpoint_state(path)
    else:
        save_whole(save, self, path, overwrite, *args, **kwargs)


def save_whole(
    save: Method,
    /,
    self: keras.Model,
    filepath: StrPath,
    overwrite: bool = True,
    *args: object,
    **kwargs: object,
) -> None:
    """Wraps `Model.save`: a file gets its name when it is complete."""
    with _replaced(os.fspath(filepath), overwrite) as file:
        save(self, file, overwrite, *args, **kwargs)


@contextlib.contextmanager
def _replaced(path: str, overwrite: bool) -> Generator[str]:
    """Yields a name beside a path to write to, and renames what was written."""
    path = plain(path)
    if is_url(path):
        if not overwrite and path_of(path).exists():
            raise FileExistsError(f"{path} exists. Remove it, or pass overwrite=True.")
        with written_here(path) as new:
            yield new
        return
    folder, name = os.path.split(os.path.realpath(path))
    is_file = path.endswith((".keras", *_KERAS_2)) and os.path.isdir(folder)
    # Whether to overwrite is for Keras to ask or to refuse.
    if not is_file or os.path.isdir(path) or (os.path.exists(path) and not overwrite):
        yield path
        return
    new = os.path.join(folder, f".saving-{process_id()}-{os.getpid()}-{name}")
    try:
        yield new
        if os.path.exists(new):
            os.replace(new, os.path.join(folder, name))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(new)


def _save_as_keras_2(model: keras.Model, path: str, overwrite: bool) -> None:
    if not overwrite and path_of(path).exists():
        raise FileExistsError(f"{path} exists. Remove it, or pass overwrite=True.")
    with _replaced(path, overwrite) as new, h5py.File(new, "w") as file:
        legacy_h5_format.save_weights_to_hdf5_group(file, model)


def load_from_prefix(
    load: Method,
    /,
    self: keras.Model,
    filepath: StrPath | None,
    *args: object,
    options: object = None,
    **kwargs: object,
) -> Any:
    """Wraps `Model.load_weights`: takes prefixes."""
    if filepath is None:
        raise ValueError(
            "load_weights takes a path, but got None. tf.train.latest_checkpoint returns None for a "
            "folder without a checkpoint: check that folder, or train first."
        )
    path = plain(filepath)
    is_prefix = _is_prefix(path)
    file = path + _ENDING if is_prefix else path
    if is_url(file) and path_of(file).is_file():
        with read_here(file) as copy:
            result = load_from_prefix(load, self, copy, *args, **kwargs)
        return LoadStatus() if is_prefix else result
    if os.path.exists(file):
        if file.endswith(_ENDING):
            _build_optimizer(self, file)
    elif path_of(path).is_dir():
        is_prefix, file = False, path  # an Orbax checkpoint
    elif is_prefix:
        raise FileNotFoundError(
            tensorflow_explanation(path)
            or f"There is no checkpoint {path}: expected the file {file}. tf.train.latest_checkpoint(folder) "
            "returns the latest path of a folder."
        )
    result = load(self, file, *args, **kwargs)
    return LoadStatus() if is_prefix else result


def _build_optimizer(model: keras.Model, file: str) -> None:
    """Builds the optimizer if the file has values for its slots, which Keras would skip."""
    optimizer = getattr(model, "optimizer", None)  # a model without compile has none
    if optimizer is None or optimizer.built or not model.built:
        return
    with h5py.File(file) as content:
        group: Any = content.get("optimizer/vars", ())
        saved = list(group)
    # Before training it has only its step and its learning rate.
    if len(saved) > len(optimizer.variables):
        optimizer.build(model.trainable_variables)


def load_with_optimizer(
    load: Method,
    /,
    filepath: "StrPath | h5py.File",
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    **kwargs: object,
) -> Any:
    """Wraps `load_model_from_hdf5`: compiles the model as it was, with the optimizer's state."""
    # Keras builds the optimizer for the model's own variables only, not for those of its layers.
    model = load(filepath, custom_objects, compile=False, **kwargs)
    if compile:
        is_open = isinstance(filepath, h5py.File)
        with contextlib.nullcontext(filepath) if is_open else h5py.File(filepath) as file:
            _compile_as_saved(model, file, {**_LOSSES, **(custom_objects or {})})
    return model


def _compile_as_saved(model: Any, file: h5py.File, objects: dict[str, Any]) -> None:
    config = file.attrs.get("training_config")
    if config is None:
        return
    model.compile(
        **saving_utils.compile_args_from_training_config(
            json_utils.decode(config), custom_objects=objects
        )
    )
    if "optimizer_weights" not in file:
        return
    model.optimizer.build(model.trainable_variables)
    values = legacy_h5_format.load_optimizer_weights_from_hdf5_group(file)
    variables = model.optimizer.variables
    if [value.shape for value in values] != [tuple(variable.shape) for variable in variables]:
        warnings.warn(
            f"The optimizer of {file.filename} was not restored and starts anew: the file has "
            f"{len(values)} arrays for it, as Keras 2 wrote them, and the optimizer "
            f"{len(variables)} variables. Save the model in a .keras file to keep them.",
            stacklevel=user_stacklevel(),
        )
        return
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value[()])
