"""Keras models as artifacts: the prediction as a program, and what it takes to train on.

An artifact's weights are those of the model (moving averages and random seeds included), then those of its
optimizer. Its notes hold Keras's configuration of the model, from which `read_model` rebuilds it.

Internals of Keras, which tests/frontends/tf/keras/test_export.py runs on every supported version:
`Model._call_has_training_arg`, `Layer._flatten_layers`.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import keras

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.keras._input_specs import inputs_from, inputs_of
from frontends.tf.keras._lookup import StringLookup
from frontends.tf.keras._text_vectorization import TextVectorization
from frontends.tf.saved_model.modules import CALL, TEXTS, signature_endpoints
from spmd import export
from spmd.errors import ExportError
from spmd.source_lines import user_stacklevel
from spmd.typing import LibraryVariable, StrPath

SERVING_DEFAULT = "serving_default"
_TEXT_LAYERS = (TextVectorization, StringLookup)
_LAYER: Any = keras.Layer


def write_model(
    model: object,
    path: StrPath,
    include_optimizer: bool = True,
    input_signature: Nested = None,
    signatures: object = None,
) -> None:
    """Writes a model as an artifact. Blocks until it is on disk; only one process must call it.

    Args:
        model: a built `keras.Model`.
        path: the directory.
        include_optimizer: whether the state of the optimizer is written.
        input_signature: a `tf.TensorSpec` for each input, in the structure that the model takes (a tuple
            stands for several arguments); None for what it was built with, and any number of rows.
        signatures: what is saved beside the model's own call: a `tf.function` with an `input_signature`, what
            `get_concrete_function` gives, or a dict of them by name. None makes a signature of the call.

    Raises:
        TypeError: it is not a Keras model, or signatures are no such functions.
        ExportError: the model is not built, takes texts, cannot be exported, or the directory holds something else.
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
    text_layers = (each for each in model._flatten_layers() if isinstance(each, _TEXT_LAYERS))
    if (layer := next(text_layers, None)) is not None:
        raise ExportError(
            f"The model {model.name!r} takes texts, in its layer {layer.name!r}, and the program in a directory takes numbers only. Save "
            "it as a file, which keeps the vocabulary too: model.save('model.keras'), and tf.keras.models.load_model('model.keras'). To "
            "serve from a directory, save a model of what comes after that layer, and call the layer before it."
        )
    variables = list(model.variables)
    optimizer = _variables_of_optimizer(model) if include_optimizer else []
    inputs = inputs_of(model) if input_signature is None else inputs_from(input_signature)
    call = SERVING_DEFAULT if signatures is None else CALL
    named = signature_endpoints(signatures, variables)
    export.save(
        path,
        {
            call: export.Endpoint(_prediction(model, variables), inputs),
            **{name: endpoint for name, (endpoint, _) in named.items()},
        },
        [(variable.path, variable.value) for variable in variables],
        [(variable.path, variable.value) for variable in optimizer],
        {
            "keras": keras.__version__,
            "model": _configuration(model),
            "trainable": [bool(variable.trainable) for variable in variables],
            TEXTS: {name: texts for name, (_, texts) in named.items()},
        },
    )


def read_model(
    path: StrPath,
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool | None = None,
) -> Any:
    """Makes a model from an artifact. Blocks; each process must call it.

    Args:
        path: the directory.
        custom_objects: classes and functions of the model that are not Keras's, by name.
        compile: whether it is compiled as it was when it was written.
        safe_mode: False also runs bytecode (of `Lambda` layers), which can do anything.

    Returns:
        A `keras.Model`; in a strategy's scope, one of that strategy.

    Raises:
        ExportError: the directory is not an artifact, is damaged, or holds no Keras model that can be rebuilt.
    """
    artifact = export.load(path)
    config = artifact.notes.get("model")
    if config is None or "error" in config:
        reason = "it was not written from one" if config is None else config["error"]
        raise ExportError(
            f"{path} holds a program, but no Keras model that can be rebuilt: {reason}. Predict with "
            "tf.saved_model.load(path).signatures['serving_default'], or give the class of the model a "
            "method get_config and save it again."
        )
    if not compile:
        config = {**config, "compile_config": None}
    options = {} if safe_mode is None else {"safe_mode": safe_mode}
    model = keras.saving.deserialize_keras_object(config, custom_objects, **options)
    _assign(model.variables, artifact.weight_specs, artifact.weights, f"{model.name!r} in {path}")
    _refresh_derived(model)
    if compile and artifact.state_specs:
        optimizer = _variables_of_optimizer(model)
        try:
            _assign(
                optimizer, artifact.state_specs, artifact.read_state(), f"the optimizer in {path}"
            )
        except _OtherVariablesError as error:
            # Predictions do not depend on it.
            warnings.warn(f"{error} The optimizer starts anew.", stacklevel=user_stacklevel())
    return model


def _variables_of_optimizer(model: keras.Model) -> list[Any]:
    """Lists all variables; none if the optimizer was never used and has no slots yet."""
    optimizer = getattr(model, "optimizer", None)
    return list(optimizer.variables) if optimizer is not None and optimizer.built else []


def _configuration(model: keras.Model) -> dict[str, Any]:
    """Returns Keras's configuration of the model, or why there is none: predictions do not need it."""
    serialize: Any = keras.saving.serialize_keras_object
    try:
        return serialize(model)
    except Exception as error:
        warnings.warn(
            f"{model.name} is saved for predictions only: {error} Give its class a method get_config, to "
            "load it with tf.keras.models.load_model, too.",
            stacklevel=user_stacklevel(),
        )
        return {"error": str(error)}


def _prediction(model: Any, variables: list[LibraryVariable]) -> Callable[..., Any]:
    options = {"training": False} if model._call_has_training_arg else {}
    others = model.non_trainable_variables
    indices = {id(variable): index for index, variable in enumerate(variables)}

    def predict(weights: list[Any], inputs: tuple[Any, ...]) -> tuple[Any, dict[int, Any]]:
        def of(some: list[LibraryVariable]) -> list[Any]:
            return [weights[indices[id(variable)]] for variable in some]

        old = of(others)
        outputs, new = model.stateless_call(of(model.trainable_variables), old, *inputs, **options)
        # Such as the seed of a layer that is random in predictions, too.
        changed = {
            indices[id(variable)]: after
            for variable, before, after in zip(others, old, new, strict=True)
            if after is not before
        }
        return outputs, changed

    return predict


class _OtherVariablesError(ExportError):
    """A model that was rebuilt has other variables than the one that was saved."""


def _assign(
    variables: list[LibraryVariable],
    specs: Sequence[export.ArraySpec],
    values: Sequence[TensorLike],
    what: str,
) -> None:
    """Assigns values to variables: by path, or by order if paths changed."""
    paths = [variable.path for variable in variables]
    if len(set(paths)) == len(paths) and set(paths) == {spec.name for spec in specs}:
        indices = {spec.name: index for index, spec in enumerate(specs)}
        specs, values = ([some[indices[path]] for path in paths] for some in (specs, values))
    mine = [str(export.ArraySpec(v.path, tuple(v.shape), v.dtype)) for v in variables]
    fits = len(mine) == len(specs) and all(
        (tuple(variable.shape), variable.dtype) == (spec.shape, spec.dtype)
        for variable, spec in zip(variables, specs, strict=True)
    )
    if not fits:
        raise _OtherVariablesError(
            f"The variables of {what} are not those that were saved. Expected: "
            f"{', '.join(map(str, specs))}. Found, after rebuilding it from its configuration: "
            f"{', '.join(mine) or 'none'}. Make all variables in the methods __init__ and build of its "
            "classes, and nowhere else."
        )
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _refresh_derived(model: Any) -> None:
    """Lets layers recompute what they derive from their variables when these are loaded."""
    for layer in model._flatten_layers():
        if type(layer).load_own_variables is not _LAYER.load_own_variables:
            store: dict[str, Any] = {}
            layer.save_own_variables(store)
            layer.load_own_variables(store)
