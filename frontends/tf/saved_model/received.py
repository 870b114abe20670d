"""What is no array of a signature's program: texts, of which it takes fingerprints or gives positions in a list; serialized examples."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.data.host_arrays import shown
from frontends.tf.dtypes import as_dtype
from frontends.tf.io.features import FixedLenFeature, VarLenFeature
from frontends.tf.ops.convert import convert_to_tensor
from spmd import export

# The note of an artifact: by signature, what `described` gives.
RECEIVED = "received"
_TEXT = "string"
_TEXTS, _EXAMPLES, _NAMES, _GIVEN_BACK = "texts", "examples", "names", "given_back"


def value_of(examples: str, key: str) -> str:
    """Names what a program takes of a feature of examples."""
    return f"{examples}/{key}"


def described_names(names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Describes the outputs of a function that are texts of a list, as `described` does."""
    return {_NAMES: names}


def described(
    texts: Sequence[str],
    examples: Mapping[str, Mapping[str, FixedLenFeature | VarLenFeature]],
    names: Mapping[str, Sequence[str]],
    given_back: Sequence[str] = (),
) -> dict[str, Any]:
    """Describes the inputs and outputs of a signature for the notes.

    Args:
        texts: the inputs of the program that are fingerprints.
        examples: by the name of an input that is serialized examples, the features that are read of it.
        names: by the name of an output of the program that is positions in a list of texts, the list.
        given_back: the outputs of the program that are fingerprints of texts that it was given.
    """
    return {
        _TEXTS: list(texts),
        _EXAMPLES: {
            name: {key: _as_json(feature) for key, feature in features.items()}
            for name, features in examples.items()
        },
        _NAMES: {name: list(some) for name, some in names.items()},
        _GIVEN_BACK: list(given_back),
    }


class Received:
    """What a signature takes and gives.

    Attributes:
        specs: its inputs.
        outputs: its outputs.
    """

    def __init__(self, endpoint: export.LoadedEndpoint, notes: Mapping[str, Any]) -> None:
        """Finds out what the inputs and outputs are.

        Args:
            endpoint: the program.
            notes: what `described` gave; empty if these are those of the program.
        """
        self._names: Mapping[str, Sequence[str]] = notes.get(_NAMES, {})
        self._given_back: Sequence[str] = notes.get(_GIVEN_BACK, ())
        self.outputs = [self._output(spec) for spec in endpoint.outputs]
        texts: Sequence[str] = notes.get(_TEXTS, ())
        self._program = [
            dataclasses.replace(spec, shape=spec.shape[:-1], dtype=_TEXT)
            if spec.name in texts
            else spec
            for spec in endpoint.inputs
        ]
        self._examples: dict[str, dict[str, Any]] = {
            name: {key: _from_json(entry) for key, entry in features.items()}
            for name, features in notes.get(_EXAMPLES, {}).items()
        }
        inner = {
            value_of(name, key): name
            for name, features in self._examples.items()
            for key in features
        }
        rows = {inner[one.name]: one.shape[:1] for one in self._program if one.name in inner}
        self.specs = [
            *(export.ArraySpec(name, shape, _TEXT) for name, shape in rows.items()),
            *(spec for spec in self._program if spec.name not in inner),
        ]

    def _output(self, spec: export.ArraySpec) -> export.ArraySpec:
        if spec.name in self._given_back:
            return dataclasses.replace(spec, shape=spec.shape[:-1], dtype=_TEXT)
        return dataclasses.replace(spec, dtype=_TEXT) if spec.name in self._names else spec

    def given(self, name: str, value: Any, inputs: Sequence[TensorLike]) -> Any:
        """Makes what the signature gives of an output of the program.

        Args:
            name: of the output.
            value: what the program gave.
            inputs: what the signature was given, in the order of `specs`.
        """
        is_known = not isinstance(value, Tracer)
        if name in self._given_back:
            # Few who load a model need it.
            from frontends.tf.feature_column import KnownTexts, Texts

            if not is_known:
                return Texts(value)
            values = self._values(inputs)
            texts = [values[spec.name] for spec in self._program if spec.dtype == _TEXT]
            return KnownTexts(texts).behind(np.asarray(value))
        names = self._names.get(name)
        if names is None:
            return value
        # Likewise.
        from frontends.tf.feature_column.class_names import ClassNames

        found = ClassNames(value, names)
        return shown(np.asarray(found)) if is_known else found

    def arrays(self, inputs: Sequence[TensorLike]) -> list[jax.Array]:
        """Makes what the program takes of the inputs, in the order of `specs`.

        Raises:
            TypeError: one has another dtype.
            ValueError: one has another shape, or is no example.
        """
        values = self._values(inputs)
        return [_array_of(spec, values[spec.name]) for spec in self._program]

    def _values(self, inputs: Sequence[TensorLike]) -> dict[str, Any]:
        """Reads serialized examples; gives what the program takes by name, texts as they are."""
        given: dict[str, Any] = {}
        for spec, value in zip(self.specs, inputs, strict=True):
            features = self._examples.get(spec.name)
            if features is None:
                given[spec.name] = value
                continue
            # Likewise.
            from frontends.tf.io.parsing import parse_example

            for key, one in parse_example(_texts(spec, value), features).items():
                padded = _padded(one) if isinstance(features[key], VarLenFeature) else one
                given[value_of(spec.name, key)] = padded
        return given


def _as_json(feature: FixedLenFeature | VarLenFeature) -> dict[str, Any]:
    found: dict[str, Any] = {"dtype": as_dtype(feature.dtype).name}
    if isinstance(feature, FixedLenFeature):
        default = feature.default_value
        default = None if default is None else np.asarray(default).tolist()
        if isinstance(default, bytes):
            default = default.decode()
        found |= {"shape": [int(size) for size in feature.shape], "default_value": default}
    return found


def _from_json(entry: Mapping[str, Any]) -> FixedLenFeature | VarLenFeature:
    return FixedLenFeature(**entry) if "shape" in entry else VarLenFeature(**entry)


def _padded(sparse: Any) -> Any:
    """Makes an array of a sparse one, padded with what columns take for missing: -1, the empty text, or 0."""
    values = np.asarray(sparse.values)
    fill: Any = "" if values.dtype.kind in "OSU" else -1 if values.dtype.kind == "i" else 0
    dense = np.full(tuple(sparse.dense_shape), fill, object if fill == "" else values.dtype)
    dense[tuple(np.asarray(sparse.indices).T)] = values
    return dense


def _texts(spec: export.ArraySpec, value: TensorLike) -> Any:
    array: Any = convert_to_tensor(value)
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        raise TypeError(
            f"The input {spec} takes serialized examples, but got {value!r}. Write "
            "tf.constant([example.SerializeToString()])."
        )
    return array


def _array_of(spec: export.ArraySpec, value: TensorLike) -> jax.Array:
    """Makes the array that a program takes of an input."""
    array: Any = convert_to_tensor(value)
    is_text = isinstance(array, np.ndarray)
    dtype = _TEXT if is_text else array.dtype.name
    if dtype != spec.dtype:
        raise TypeError(
            f"The input {spec} got elements of the type {dtype}. Convert it: "
            f"tf.cast({spec.name}, tf.{spec.dtype})."
        )
    fits = array.ndim == len(spec.shape) and all(
        size in (None, found) for size, found in zip(spec.shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"The input {spec} got an array of shape {array.shape}. Reshape it, or save the model with "
            "inputs of this shape."
        )
    if not is_text:
        return array
    # Likewise.
    from frontends.tf.feature_column.texts import Texts

    return jnp.asarray(Texts.of(array).words)
