"""Estimators as artifacts: what their model functions predict, a program for each signature, and the variables."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from frontends.tf.compat.v1 import logging
from frontends.tf.compat.v1.placeholders import Placeholder, Placeholders
from frontends.tf.estimator.export.outputs import SignatureDef, outputs_of
from frontends.tf.estimator.export.receivers import (
    ServingInputReceiver,
    TensorServingInputReceiver,
)
from frontends.tf.estimator.model_step import ModelStep
from frontends.tf.feature_column import Texts
from frontends.tf.feature_column.class_names import ClassNames
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.saved_model.received import RECEIVED, described, value_of
from frontends.tf.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from spmd import export
from spmd.files import StorePath, path_of
from spmd.state import StateTable, Variable, discover
from spmd.typing import StrPath

_ATTEMPTS = 10
_KINDS = ("Classify", "Regress", "Predict", "Train", "Eval")

Receive = Callable[[], ServingInputReceiver | TensorServingInputReceiver]


class Received(NamedTuple):
    """What one call of a `serving_input_receiver_fn` gave.

    Attributes:
        placeholders: that it made.
        receiver: what it returned.
    """

    placeholders: Placeholders
    receiver: ServingInputReceiver | TensorServingInputReceiver


def receive(function: Receive, fed: dict[int, Any] | None = None) -> Received:
    """Calls a `serving_input_receiver_fn`.

    Args:
        function: the function.
        fed: values of its placeholders, in the order in which it makes them.

    Raises:
        TypeError: it returns something else than a receiver.
    """
    placeholders = Placeholders(fed)
    with placeholders.as_current():
        receiver = function()
    if not isinstance(receiver, ServingInputReceiver | TensorServingInputReceiver):
        raise TypeError(
            f"A serving_input_receiver_fn returns a tf.estimator.export.ServingInputReceiver, but this one returned "
            f"{receiver!r}. Write return tf.estimator.export.ServingInputReceiver(features, receiver_tensors)."
        )
    return Received(placeholders, receiver)


def write(
    path: StrPath,
    step: ModelStep,
    function: Receive,
    received: Received,
    drawn: Iterable[Variable] = (),
    assets: Mapping[str, StrPath] | None = None,
) -> None:
    """Writes what a model function predicts. Blocks until it is there; only one process must call it.

    Args:
        path: the folder, which is made.
        step: of predictions, traced, whose variables have their values.
        function: the `serving_input_receiver_fn`.
        received: what it gave.
        drawn: streams of random numbers that it draws from.
        assets: files to copy, by their paths in the folder `assets.extra`.

    Raises:
        ExportError: a signature cannot be exported.
        TypeError: `export_outputs` are of another kind.
        ValueError: no output is the default.
    """
    table, _ = discover(step, [("tf.random", one) for one in drawn])
    endpoints: dict[str, export.Endpoint] = {}
    notes: dict[str, Any] = {}
    for name, signature in _signatures(step, received.receiver).items():
        chosen: dict[str, int] = {}
        examples: dict[str, Any] = {}
        for label, tensor in signature.inputs.items():
            index = _index_of(received.placeholders, tensor)
            parsed = received.placeholders.parsed.get(index)
            if parsed is None:
                chosen[label] = index
            else:
                examples[label] = {key: feature for key, (feature, _) in parsed.items()}
                chosen |= {value_of(label, key): one for key, (_, one) in parsed.items()}
        made = {label: received.placeholders.made[index] for label, index in chosen.items()}
        endpoints[name] = export.Endpoint(
            _program(step, table, function, name, chosen),
            [_spec(label, one) for label, one in made.items()],
        )
        texts = [label for label, one in made.items() if one.dtype == "string"]
        names = {
            label: one.names
            for label, one in signature.outputs.items()
            if isinstance(one, ClassNames)
        }
        given_back = [label for label, one in signature.outputs.items() if isinstance(one, Texts)]
        notes[name] = described(texts, examples, names, given_back)
    weights = [
        (str(getattr(one, "name", "variable")).partition(":")[0], value)
        for one, value in zip(table.variables, table.read(), strict=True)
    ]
    export.save(
        path,
        endpoints,
        weights,
        notes={
            RECEIVED: notes,
            "trainable": [bool(getattr(one, "trainable", False)) for one in table.variables],
        },
        assets={f"assets.extra/{name}": source for name, source in (assets or {}).items()},
    )


def _signatures(
    step: ModelStep, receiver: ServingInputReceiver | TensorServingInputReceiver
) -> dict[str, SignatureDef]:
    """Makes the signatures of the step's last trace that can be served, and says which cannot."""
    spec = step.made.spec
    outputs = outputs_of(spec.export_outputs, spec.predictions)
    inputs: dict[str, Mapping[str, Any]] = {"": receiver.receiver_tensors}
    for word, tensors in (receiver.receiver_tensors_alternatives or {}).items():
        inputs[f"{word}:"] = tensors
    found: dict[str, SignatureDef] = {}
    refused: dict[str, str] = {}
    for prefix, tensors in inputs.items():
        for key, output in outputs.items():
            name = f"{prefix}{'/'.join(key) if isinstance(key, tuple) else key}"
            try:
                signature = output.as_signature_def(tensors)
            except ValueError as error:
                refused[name] = str(error)
            else:
                found[name] = signature
    for kind in _KINDS:
        names = [name for name, one in found.items() if one.method_name == kind]
        logging.info(f"Signatures INCLUDED in export for {kind}: {names or 'None'}")
    if refused:
        logging.info("Signatures EXCLUDED from export because they cannot be served:")
        for name, why in refused.items():
            logging.info(f"'{name}' : {why}")
    if not found:
        logging.warning("Export includes no signatures!")
    elif DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found:
        logging.warning("Export includes no default signature!")
    return found


def _program(
    step: ModelStep, table: StateTable, function: Receive, name: str, chosen: Mapping[str, int]
) -> Callable[[list[Any], Any], tuple[Any, dict[int, Any]]]:
    """Makes the function of a signature: of the weights, and the placeholders that are its inputs."""

    def call(weights: list[Any], inputs: list[Any]) -> tuple[Any, dict[int, Any]]:
        made = receive(function).placeholders.made
        fed = {
            index: Texts(value) if made[index].dtype == "string" else value
            for index, value in zip(chosen.values(), inputs, strict=True)
        }
        with table.lifted(weights):
            received = receive(function, fed)
            _check_fed(received.placeholders, fed, name)
            step(received.receiver.features, None)
            signature = _served(step, received.receiver, name)
            outputs = {label: _array(tensor) for label, tensor in signature.outputs.items()}
            after = table.read()
        columns = enumerate(zip(weights, after, strict=True))
        return outputs, {index: new for index, (old, new) in columns if new is not old}

    return call


def _array(output: Any) -> Any:
    """Returns what a program gives of an output: of texts numbers that stand for them."""
    if isinstance(output, ClassNames):
        return output.ids
    return output.words if isinstance(output, Texts) else convert_to_tensor(output)


def _served(step: ModelStep, receiver: Any, name: str) -> SignatureDef:
    """Makes one signature of the step's last trace."""
    spec = step.made.spec
    outputs = outputs_of(spec.export_outputs, spec.predictions)
    prefix, _, _ = name.rpartition(":")
    tensors = receiver.receiver_tensors
    if prefix:
        tensors = receiver.receiver_tensors_alternatives[prefix]
    keys = {"/".join(key) if isinstance(key, tuple) else key: key for key in outputs}
    return outputs[keys[name.rpartition(":")[2]]].as_signature_def(tensors)


def _index_of(placeholders: Placeholders, tensor: Any) -> int:
    index = placeholders.index_of(tensor)
    if index is None:
        raise ValueError(
            f"receiver_tensors of an exported program must be placeholders, but one is {tensor!r}, which was computed. Give "
            "the placeholder that it was computed from, and the computed one as a feature."
        )
    return index


def _check_fed(placeholders: Placeholders, fed: dict[int, Any], name: str) -> None:
    for index, one in enumerate(placeholders.made):
        if index not in (fed | placeholders.parsed) and one.default is None:
            raise ValueError(
                f"The serving_input_receiver_fn makes a placeholder {one.dtype}{list(one.shape)} that is none of the "
                f"receiver_tensors of the signature {name!r}, so nothing feeds it. Add it to receiver_tensors, or make it with "
                "tf.placeholder_with_default."
            )


def _spec(label: str, placeholder: Placeholder) -> export.ArraySpec:
    if placeholder.dtype == "string":
        return export.ArraySpec(label, (*placeholder.shape, 2), "uint32")
    return export.ArraySpec(label, placeholder.shape, placeholder.dtype)


def timestamped(base: StrPath) -> Path | StorePath:
    """Names a new folder by the time, in seconds; waits for the next second if there is one already.

    Raises:
        RuntimeError: there is always one.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        path = path_of(base).joinpath(str(int(time.time())))
        if not path.exists():
            return path
        time.sleep(1)
        logging.warning(
            f"Directory {path} already exists; retrying (attempt {attempt}/{_ATTEMPTS})"
        )
    raise RuntimeError(
        f"Failed to obtain a unique export directory name after {_ATTEMPTS} attempts."
    )
