"""Keras models as artifacts: the prediction as a program, and what it takes to train on.

An artifact's weights are those of the model (moving averages and random seeds included), then those of its
optimizer. Its notes hold Keras's configuration of the model, from which `read_model` makes it again.

Internals of Keras, which tests/frontends/tf/keras/test_export.py runs on every supported version:
`Model._call_has_training_arg`, `Layer._flatten_layers`, and the method of Keras's models `save`.
"""

import functools
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import keras

from frontends.tf.data.spec import TensorSpec
from frontends.tf.dtypes import as_dtype
from spmd import export
from spmd.errors import ExportError

SERVING_DEFAULT = "serving_default"
_LAYER: Any = keras.Layer
_MODEL: Any = keras.Model
# What Keras writes and reads itself.
_FILES = (".keras", ".h5", ".hdf5")


def write_model(
    model: Any,
    path: str | os.PathLike[str],
    include_optimizer: bool = True,
    input_signature: Any = None,
    signatures: Any = None,
) -> None:
    """Writes a model as an artifact. Blocks until it is on disk; one process is to call it.

    Args:
        model: a built `keras.Model`.
        path: the directory.
        include_optimizer: whether the state of the optimizer is written.
        input_signature: a `tf.TensorSpec` for each input, in the structure that the model takes (a tuple
            stands for several arguments); None takes what it was built for, with any number of rows.
        signatures: must be None.

    Raises:
        TypeError: it is no model.
        ValueError: signatures were given.
        ExportError: the model is not built, cannot be exported, or the directory holds something else.
    """
    if not isinstance(model, keras.Model):
        raise TypeError(
            f"Only Keras models are saved, but got a {type(model).__name__}. Put what it computes in the "
            "method call of a class that inherits tf.keras.Model, or write it with spmd.export.save."
        )
    if not model.built:
        raise ExportError(
            f"The model {model.name!r} cannot be saved, because it has no weights yet: they are made when it "
            "is built. Call it with a batch of data first, or model.build(input_shape)."
        )
    if signatures is not None:
        raise ValueError(
            "signatures= was given, but the signature of a saved model is its own call, under the name "
            f"{SERVING_DEFAULT!r}. Leave it out. To save another function, put it in the method call of a "
            "class that inherits tf.keras.Model and holds the model, and save an object of that."
        )
    variables = list(model.variables)
    optimizer = _variables_of_optimizer(model) if include_optimizer else []
    inputs = _inputs_of(model) if input_signature is None else _given(input_signature)
    export.save(
        path,
        {SERVING_DEFAULT: export.Endpoint(_prediction(model, variables), inputs)},
        [(variable.path, variable.value) for variable in variables],
        [(variable.path, variable.value) for variable in optimizer],
        {
            "keras": keras.__version__,
            "model": _configuration(model),
            "trainable": [bool(variable.trainable) for variable in variables],
        },
    )


def read_model(
    path: str | os.PathLike[str],
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool | None = None,
) -> Any:
    """Makes a model of an artifact. Blocks until it is made; each process is to call it.

    Args:
        path: the directory.
        custom_objects: classes and functions of the model that are not Keras's, by their names.
        compile: whether it is compiled as it was when it was written.
        safe_mode: False also makes functions of bytecode (of `Lambda` layers), which can do anything.

    Returns:
        A `keras.Model`; in a strategy's scope, one of that strategy.

    Raises:
        ExportError: the directory holds something else, is damaged, or holds no model of Keras that can be
            made again.
    """
    artifact = export.load(path)
    config = artifact.notes.get("model")
    if config is None or "error" in config:
        reason = "it was not written from one" if config is None else config["error"]
        raise ExportError(
            f"{path} holds a program, but no Keras model that can be made again: {reason}. Predict with "
            "tf.saved_model.load(path).signatures['serving_default'], or give the class of the model a "
            "method get_config and save it anew."
        )
    if not compile:
        config = {**config, "compile_config": None}
    options = {} if safe_mode is None else {"safe_mode": safe_mode}
    model = keras.saving.deserialize_keras_object(config, custom_objects, **options)
    _assign(model.variables, artifact.weight_specs, artifact.weights, f"{model.name!r} in {path}")
    _derive(model)
    if compile and artifact.state_specs:
        optimizer = _variables_of_optimizer(model)
        try:
            _assign(
                optimizer, artifact.state_specs, artifact.read_state(), f"the optimizer in {path}"
            )
        except _OtherVariablesError as error:
            # The predictions do not depend on it.
            warnings.warn(f"{error} The optimizer starts anew.", stacklevel=3)
    return model


def save_model(
    model: Any,
    filepath: str | os.PathLike[str],
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
    options: Any = None,
    save_traces: bool = True,
    **kwargs: Any,
) -> None:
    """Saves a model: a path that ends in `.keras` or `.h5` as Keras does, another one as a directory.

    Args:
        model: a `keras.Model`.
        filepath: where.
        overwrite: whether what is there is replaced.
        include_optimizer: whether the state of the optimizer is written.
        save_format: `"tf"` writes a directory whatever the path; others are seen by the path.
        signatures: must be None: the signature is the model's call.
        options: a `tf.saved_model.SaveOptions`; nothing in it applies.
        save_traces: accepted; the program is always written.
        **kwargs: other options of Keras's `save_model`.

    Raises:
        FileExistsError: the directory exists, and is not to be overwritten.
        ExportError: see `tf.saved_model.save`.

    Source: `tf.keras.models.save_model`.
    """
    model.save(
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
    filepath: str | os.PathLike[str],
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool = True,
    options: Any = None,
) -> Any:
    """Loads a model that `save_model` or `tf.saved_model.save` wrote.

    Args:
        filepath: where it is.
        custom_objects: classes and functions of the model that are not Keras's, by their names.
        compile: whether it is compiled as it was when it was saved.
        safe_mode: False also makes functions of bytecode (of `Lambda` layers), which can do anything.
        options: a `tf.saved_model.LoadOptions`; nothing in it applies.

    Returns:
        A `keras.Model`.

    Raises:
        ExportError: the directory is damaged, or is TensorFlow's.

    Source: `tf.keras.models.load_model`.
    """
    del options
    folder = Path(filepath)
    if export.is_artifact(folder) or (folder / "saved_model.pb").exists():
        return read_model(folder, custom_objects, compile, safe_mode)
    return keras.saving.load_model(filepath, custom_objects, compile, safe_mode)


def export_saved_model(
    model: Any,
    saved_model_path: str | os.PathLike[str],
    custom_objects: dict[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a model as `tf.saved_model.save` does.

    Args:
        model: a built `keras.Model`.
        saved_model_path: the directory.
        custom_objects: accepted; Keras writes their names.
        as_text: accepted; what people can read is text already.
        input_signature: a `tf.TensorSpec` for each input, in the structure that the model takes (a tuple
            stands for several arguments); None takes what the model was built for.
        serving_only: leaves out the state of the optimizer.

    Raises:
        ExportError: see `tf.saved_model.save`.

    Source: `tf.keras.experimental.export_saved_model`.
    """
    del custom_objects, as_text
    write_model(model, saved_model_path, not serving_only, input_signature)


def load_from_saved_model(
    saved_model_path: str | os.PathLike[str], custom_objects: dict[str, Any] | None = None
) -> Any:
    """Makes a model of a directory that `export_saved_model` wrote.

    Args:
        saved_model_path: the directory.
        custom_objects: classes and functions of the model that are not Keras's, by their names.

    Returns:
        A `keras.Model`, compiled if it was; in a strategy's scope, one of that strategy.

    Raises:
        ExportError: see `tf.keras.models.load_model`.

    Source: `tf.keras.experimental.load_from_saved_model`.
    """
    return read_model(saved_model_path, custom_objects)


NAMES = {
    "experimental": {
        "export_saved_model": export_saved_model,
        "load_from_saved_model": load_from_saved_model,
    },
    "models": {"load_model": load_model, "save_model": save_model},
    "saving": {"load_model": load_model, "save_model": save_model},
}


def saves_directories(save: Callable[..., None]) -> Callable[..., None]:
    """Wraps `Model.save`: a path without an ending becomes a directory, an artifact of `tf.saved_model`."""

    @functools.wraps(save)
    def with_directories(
        self: Any,
        filepath: Any,
        overwrite: bool = True,
        zipped: bool | None = None,
        include_optimizer: bool = True,
        save_format: str | None = None,
        signatures: Any = None,
        options: Any = None,
        save_traces: bool = True,
        **kwargs: Any,
    ) -> None:
        del options, save_traces
        own = zipped is False or str(filepath).endswith(_FILES) or "://" in str(filepath)
        if own and save_format != "tf":
            if str(filepath).endswith((".h5", ".hdf5")):
                kwargs["include_optimizer"] = include_optimizer
            save(self, filepath, overwrite=overwrite, zipped=zipped, **kwargs)
            return
        if not overwrite and Path(filepath).exists():
            raise FileExistsError(
                f"{filepath} exists, and overwrite=False was given. Choose another path, or leave it out."
            )
        write_model(self, filepath, include_optimizer, signatures=signatures)

    return with_directories


def _variables_of_optimizer(model: Any) -> list[Any]:
    """Lists them if there are all: an optimizer that was never used has no slots yet."""
    optimizer = getattr(model, "optimizer", None)
    return list(optimizer.variables) if optimizer is not None and optimizer.built else []


def _configuration(model: Any) -> dict[str, Any]:
    """Keras's configuration of the model, or why there is none: it predicts without."""
    serialize: Any = keras.saving.serialize_keras_object
    try:
        return serialize(model)
    except Exception as error:
        warnings.warn(
            f"{model.name} is saved for predictions only: {error} Give its class a method get_config, to "
            "load it with tf.keras.models.load_model, too.",
            stacklevel=4,
        )
        return {"error": str(error)}


def _prediction(model: Any, variables: list[Any]) -> Callable[..., Any]:
    options = {"training": False} if model._call_has_training_arg else {}
    others = model.non_trainable_variables
    places = {id(variable): place for place, variable in enumerate(variables)}

    def predict(weights: list[Any], inputs: tuple[Any, ...]) -> tuple[Any, dict[int, Any]]:
        def of(some: list[Any]) -> list[Any]:
            return [weights[places[id(variable)]] for variable in some]

        old = of(others)
        outputs, new = model.stateless_call(of(model.trainable_variables), old, *inputs, **options)
        # Such as the seed of a layer that also draws when it predicts.
        changed = {
            places[id(variable)]: after
            for variable, before, after in zip(others, old, new, strict=True)
            if after is not before
        }
        return outputs, changed

    return predict


# ---- What a model takes.


def _inputs_of(model: Any) -> tuple[Any, ...]:
    """The arguments of a model's call: those that it was defined with, or was first called with."""
    if isinstance(model, keras.Sequential):
        arguments: Any = tuple(model.inputs)
    elif hasattr(model, "input"):
        arguments = (model.input,)
    else:
        config = model.get_build_config() or {}
        shapes = config["shapes_dict"].values() if "shapes_dict" in config else config.values()
        # Which type they had is not known.
        arguments = tuple(_placeholders(shape, model.variable_dtype) for shape in shapes)
    return _named(arguments)


def _given(input_signature: Any) -> tuple[Any, ...]:
    if isinstance(input_signature, tuple):
        return _named(input_signature)
    if isinstance(input_signature, list) and len(input_signature) == 1:
        (input_signature,) = input_signature
    return _named((input_signature,))


def _placeholders(shape: Any, dtype: str) -> Any:
    """Makes placeholders of the shapes of a batch, whose number of rows is any."""
    if isinstance(shape, dict):
        return {key: _placeholders(each, dtype) for key, each in shape.items()}
    if all(size is None or isinstance(size, int) for size in shape):
        return TensorSpec([None, *shape[1:]], dtype)
    return [_placeholders(each, dtype) for each in shape]


def _named(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Names the inputs as TensorFlow does: `inputs`, `inputs_1` and so on."""
    leaves, structure = jax.tree.flatten(arguments, is_leaf=lambda each: hasattr(each, "shape"))
    names = ["inputs", *(f"inputs_{place}" for place in range(1, len(leaves)))]
    return jax.tree.unflatten(
        structure,
        [
            export.ArraySpec(name, tuple(leaf.shape), as_dtype(leaf.dtype).name)
            for name, leaf in zip(names, leaves, strict=True)
        ],
    )


# ---- What a model is made of again.


class _OtherVariablesError(ExportError):
    """A model that was made again has other variables than the one that was saved."""


def _assign(
    variables: list[Any], specs: Sequence[export.ArraySpec], values: Sequence[Any], what: str
) -> None:
    """Gives variables their values: by their paths, or by their order if paths changed."""
    paths = [variable.path for variable in variables]
    if len(set(paths)) == len(paths) and set(paths) == {spec.name for spec in specs}:
        places = {spec.name: place for place, spec in enumerate(specs)}
        specs, values = ([some[places[path]] for path in paths] for some in (specs, values))
    mine = [str(export.ArraySpec(v.path, tuple(v.shape), v.dtype)) for v in variables]
    fits = len(mine) == len(specs) and all(
        (tuple(variable.shape), variable.dtype) == (spec.shape, spec.dtype)
        for variable, spec in zip(variables, specs, strict=True)
    )
    if not fits:
        raise _OtherVariablesError(
            f"The variables of {what} are not those that were saved. Expected: "
            f"{', '.join(map(str, specs))}. Found, after making it from its configuration: "
            f"{', '.join(mine) or 'none'}. Make all variables in the methods __init__ and build of its "
            "classes, and nowhere else."
        )
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _derive(model: Any) -> None:
    """Lets layers compute what they derive from their variables when these are loaded."""
    for layer in model._flatten_layers():
        if type(layer).load_own_variables is not _LAYER.load_own_variables:
            store: dict[str, Any] = {}
            layer.save_own_variables(store)
            layer.load_own_variables(store)
