"""Programs on disk: what a trained model computes, for machines that have neither its code nor its devices.

An *endpoint* is a function of weights and inputs. An *artifact* is a directory with endpoints and the
weights that they share:

    manifest.json     names, shapes and dtypes; versions; what else the writer noted
    weights/          the weights, written by Orbax
    state/            arrays that no endpoint needs, such as the state of an optimizer, likewise
    NAME.stablehlo    each endpoint, compiled by `jax.export` for CPU, CUDA and TPU

Dimensions that a specification leaves open (`None`), such as the number of rows, stay open in the program.
Nothing in an artifact is pickled: to read it runs no code. JAX reads programs of its own releases of the
last six months; the manifest says which one wrote it.
"""

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import os
import shutil
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.export
import numpy as np
import orbax.checkpoint as ocp

from spmd.errors import ExportError, Remedy

# Machines on which an artifact runs, wherever it was written.
PLATFORMS = ("cpu", "cuda", "tpu")
MANIFEST = "manifest.json"
_FORMAT = "jaxtribute-export"
_VERSION = 1
_WEIGHTS = "weights"
_STATE = "state"


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """An input, an output or a weight.

    Attributes:
        name: of an input or an output: its keyword.
        shape: sizes; None where any size will do.
        dtype: NumPy's name of the type of the elements.
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: str

    def __str__(self) -> str:
        sizes = ", ".join("None" if size is None else str(size) for size in self.shape)
        return f"{self.name}: {self.dtype}[{sizes}]"


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """A function that is to be exported.

    Attributes:
        function: takes the list of weights and the inputs; returns the outputs, and a dict of the weights
            that it changes, by their places in the list.
        inputs: an `ArraySpec` for each input, in tuples, lists and dicts as the function takes them.
    """

    function: Callable[[list[Any], Any], tuple[Any, dict[int, Any]]]
    inputs: Any


@dataclasses.dataclass(frozen=True)
class LoadedEndpoint:
    """An endpoint of an artifact.

    Attributes:
        name: its name.
        inputs: its inputs, flat: dicts in the order of their keys.
        outputs: its outputs, flat.
    """

    name: str
    inputs: tuple[ArraySpec, ...]
    outputs: tuple[ArraySpec, ...]
    _exported: jax.export.Exported

    def __call__(self, weights: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, dict[int, Any]]:
        """Computes the outputs. Blocks for compiling, once for each shape of the inputs.

        Args:
            weights: all weights of the artifact, in its order.
            inputs: arrays, flat.

        Returns:
            The outputs, in the structure that the function returned, and the new values of the weights
            that change, by their places.
        """
        outputs, changed = self._run(list(weights), list(inputs))
        return outputs, {int(place): value for place, value in changed.items()}

    @functools.cached_property
    def _run(self) -> Callable[..., Any]:
        return jax.jit(self._exported.call)


@dataclasses.dataclass(frozen=True)
class Artifact:
    """What a directory holds.

    Attributes:
        path: the directory.
        endpoints: by their names.
        weights: their values, on the host.
        weight_specs: names, shapes and dtypes of the weights.
        state_specs: of the arrays that `read_state` gives.
        notes: what else the writer noted.
    """

    path: Path
    endpoints: Mapping[str, LoadedEndpoint]
    weights: list[np.ndarray]
    weight_specs: tuple[ArraySpec, ...]
    state_specs: tuple[ArraySpec, ...]
    notes: Mapping[str, Any]

    def read_state(self) -> list[np.ndarray]:
        """Reads the arrays that no endpoint needs. Blocks until they are read.

        Raises:
            ExportError: they are damaged.
        """
        with _damage(self.path):
            return _read_arrays(self.path / _STATE, self.state_specs)


def save(
    path: str | os.PathLike[str],
    endpoints: Mapping[str, Endpoint],
    weights: Sequence[tuple[str, Any]],
    state: Sequence[tuple[str, Any]] = (),
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Writes an artifact. Blocks until it is on disk; one process is to call it.

    It is written beside and then renamed, so whoever reads the directory finds the old artifact or the new
    one. Weights that lie on several devices are gathered.

    Args:
        path: the directory; an artifact that is there is replaced.
        endpoints: by their names.
        weights: pairs of a name, for people, and an array; every endpoint takes all of them.
        state: more of them, which no endpoint takes.
        notes: what JSON can hold; `load` gives it back.

    Raises:
        ExportError: the directory holds something else, or an endpoint cannot be exported.

    Examples:
        >>> import tempfile, jax.numpy as jnp
        >>> def predict(weights, x):
        ...     return x @ weights[0], {}
        >>> endpoint = Endpoint(predict, ArraySpec("x", (None, 3), "float32"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(f"{folder}/model", {"predict": endpoint}, [("kernel", jnp.ones((3, 2)))])
        ...     model = load(f"{folder}/model")
        >>> outputs, changed = model.endpoints["predict"](
        ...     model.weights, [np.ones((5, 3), np.float32)]
        ... )
        >>> outputs.shape, changed
        ((5, 2), {})

    Source: `tf.saved_model.save`.
    """
    arrays = {
        part: [(name, np.asarray(value)) for name, value in pairs]
        for part, pairs in ((_WEIGHTS, weights), (_STATE, state))
    }
    shapes = [jax.ShapeDtypeStruct(value.shape, value.dtype) for _, value in arrays[_WEIGHTS]]
    programs = {name: _export(name, endpoint, shapes) for name, endpoint in endpoints.items()}
    manifest: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "jax": jax.__version__,
        "platforms": PLATFORMS,
        **{
            part: [dataclasses.asdict(ArraySpec(name, a.shape, a.dtype.name)) for name, a in pairs]
            for part, pairs in arrays.items()
        },
        "endpoints": {name: described for name, (described, _) in programs.items()},
        "notes": dict(notes or {}),
    }
    with _replaced(path) as folder:
        for name, (_, program) in programs.items():
            (folder / f"{name}.stablehlo").write_bytes(program)
        for part, pairs in arrays.items():
            if pairs:  # Orbax refuses to write nothing
                with ocp.PyTreeCheckpointer() as checkpointer:
                    checkpointer.save(folder / part, {str(i): a for i, (_, a) in enumerate(pairs)})
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1))


def load(path: str | os.PathLike[str]) -> Artifact:
    """Reads an artifact. Blocks until it is read; compiles nothing yet.

    Args:
        path: the directory.

    Returns:
        What it holds.

    Raises:
        FileNotFoundError: there is no such directory.
        ExportError: it holds something else, is damaged, or was written by a newer version.

    Source: `tf.saved_model.load`.
    """
    folder = Path(path).absolute()
    manifest = _manifest(folder)
    with _damage(folder):
        endpoints = {
            name: LoadedEndpoint(
                name,
                tuple(_spec(entry) for entry in described["inputs"]),
                tuple(_spec(entry) for entry in described["outputs"]),
                _program(folder / f"{name}.stablehlo", described["sha256"]),
            )
            for name, described in manifest["endpoints"].items()
        }
        weight_specs, state_specs = (
            tuple(_spec(entry) for entry in manifest[part]) for part in (_WEIGHTS, _STATE)
        )
        weights = _read_arrays(folder / _WEIGHTS, weight_specs)
        return Artifact(folder, endpoints, weights, weight_specs, state_specs, manifest["notes"])


def is_artifact(path: str | os.PathLike[str]) -> bool:
    """Tells whether a directory looks like an artifact; it may be damaged all the same."""
    return (Path(path) / MANIFEST).is_file()


def _export(
    name: str, endpoint: Endpoint, weights: Sequence[jax.ShapeDtypeStruct]
) -> tuple[dict[str, Any], bytes]:
    """Compiles an endpoint, and describes it for the manifest."""
    specs = jax.tree.leaves(endpoint.inputs)
    scope = jax.export.SymbolicScope()
    # Rows are one number for all inputs; each other open dimension may differ.
    letters = (f"d{number}" for number in itertools.count())

    def as_symbolic(spec: ArraySpec) -> jax.ShapeDtypeStruct:
        sizes = [
            ("rows" if axis == 0 else next(letters)) if size is None else str(size)
            for axis, size in enumerate(spec.shape)
        ]
        shape = jax.export.symbolic_shape(f"({', '.join([*sizes, ''])})", scope=scope)
        return jax.ShapeDtypeStruct(shape, spec.dtype)

    def flat(values: list[Any], arrays: list[Any]) -> tuple[Any, dict[str, Any]]:
        inputs = jax.tree.unflatten(jax.tree.structure(endpoint.inputs), arrays)
        outputs, changed = endpoint.function(values, inputs)
        return outputs, {str(place): value for place, value in changed.items()}

    try:
        exported = jax.export.export(jax.jit(flat), platforms=PLATFORMS)(
            list(weights),
            [as_symbolic(spec) for spec in specs],
        )
        program = bytes(exported.serialize())
    except Exception as error:
        fixed = ", ".join(str(spec) for spec in specs)
        raise ExportError(
            f"The endpoint {name!r} cannot be exported with the inputs {fixed}: "
            f"{type(error).__name__}: {error}\nNone stands for a size that is chosen by who calls it. If the "
            "error is about such a size, fix it in the inputs; in Keras that is "
            "keras.Input(batch_shape=(32, ...))."
        ) from error
    outputs, _ = jax.tree.unflatten(exported.out_tree, exported.out_avals)
    leaves = jax.tree.leaves(outputs)
    keyed = isinstance(outputs, dict) and len(leaves) == len(outputs)
    names = sorted(outputs) if keyed else [f"output_{place}" for place in range(len(leaves))]
    described = {
        "inputs": [dataclasses.asdict(spec) for spec in specs],
        "outputs": [
            dataclasses.asdict(ArraySpec(str(key), _open(aval.shape), aval.dtype.name))
            for key, aval in zip(names, leaves, strict=True)
        ],
        "sha256": hashlib.sha256(program).hexdigest(),
    }
    return described, program


def _open(shape: Sequence[Any]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in shape)


def _spec(entry: Mapping[str, Any]) -> ArraySpec:
    return ArraySpec(entry["name"], tuple(entry["shape"]), entry["dtype"])


def _read_arrays(folder: Path, specs: Sequence[ArraySpec]) -> list[np.ndarray]:
    if not specs:
        return []
    with ocp.PyTreeCheckpointer() as checkpointer:
        restored = checkpointer.restore(folder)
    arrays = [np.asarray(restored[str(place)]) for place in range(len(specs))]
    for spec, array in zip(specs, arrays, strict=True):
        if (array.shape, array.dtype.name) != (spec.shape, spec.dtype):
            raise ValueError(
                f"{spec} was expected, but {array.dtype.name}{list(array.shape)} is there"
            )
    return arrays


def _program(file: Path, expected: str) -> jax.export.Exported:
    # JAX reads a damaged program without looking, so a checksum tells first.
    content = file.read_bytes()
    if (found := hashlib.sha256(content).hexdigest()) != expected:
        raise ValueError(f"the SHA-256 of {file.name} is {found}, not {expected}")
    return jax.export.deserialize(bytearray(content))


def _manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no directory {folder} to load. Look at the path.")
    if not is_artifact(folder):
        if (folder / "saved_model.pb").exists() or (folder / "saved_model.pbtxt").exists():
            raise ExportError(
                f"{folder} is a SavedModel of TensorFlow: it holds TensorFlow's operations, which JAX cannot "
                "run. Expected a directory that jaxtribute wrote. For a Keras model, write it where "
                "TensorFlow is installed as a file that both read, model.save('model.keras'), and load that: "
                f"{Remedy.LOAD_KERAS_FILE.spelled()}."
            )
        found = ", ".join(sorted(entry.name for entry in folder.iterdir())[:5]) or "nothing"
        raise ExportError(
            f"{folder} is not a saved model: expected {MANIFEST} in it, but found {found}. Look at the path, "
            f"or write one: {Remedy.SAVE_MODEL.spelled()}."
        )
    with _damage(folder):
        manifest = json.loads((folder / MANIFEST).read_text())
        if manifest["format"] != _FORMAT:
            raise ValueError(f"its format is {manifest['format']!r}, not {_FORMAT!r}")
        version = manifest["version"]
    if version != _VERSION:
        raise ExportError(
            f"{folder} has version {version} of the format, but this jaxtribute reads version "
            f"{_VERSION}. Load it with the jaxtribute that wrote it, or save the model anew."
        )
    return manifest


@contextlib.contextmanager
def _damage(folder: Path) -> Generator[None]:
    """Says which artifact cannot be read, whatever part of it is broken."""
    try:
        yield
    except Exception as error:
        raise ExportError(
            f"The saved model {folder} is damaged, or JAX {jax.__version__} cannot read it: "
            f"{type(error).__name__}: {error}. Copy the directory anew, or save the model anew; "
            f'{MANIFEST} says under "jax" which version wrote it.'
        ) from error


@contextlib.contextmanager
def _replaced(path: str | os.PathLike[str]) -> Generator[Path]:
    """Gives a directory to write to, which takes the place of `path` if all goes well."""
    target = Path(path).absolute()
    if target.exists() and not is_artifact(target) and (target.is_file() or any(target.iterdir())):
        raise ExportError(
            f"{target} exists, and is not a saved model that could be replaced. Expected a new path, an "
            "empty directory, or an older saved model of jaxtribute. Choose another path, or remove it."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    # No mkdtemp: what it makes is for the owner's eyes only.
    unique = uuid.uuid4().hex[:8]
    new = target.with_name(f".{target.name}.{unique}.new")
    old = target.with_name(f".{target.name}.{unique}.old")
    new.mkdir()
    try:
        yield new
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
