"""Reading artifacts: the directory, its manifest, and what is damaged in it."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import jax
import numpy as np
import orbax.checkpoint as ocp

from spmd.errors import ExportError, Remedy
from spmd.export.endpoint import ArraySpec, LoadedEndpoint, read_program

HostArray: TypeAlias = np.ndarray[Any, Any]

MANIFEST = "manifest.json"
FORMAT = "jaxtribute-export"
VERSION = 1
WEIGHTS = "weights"
STATE = "state"


@dataclasses.dataclass(frozen=True)
class Artifact:
    """What a directory holds.

    Attributes:
        path: the directory.
        endpoints: by name.
        weights: in host memory.
        weight_specs: names, shapes and dtypes of the weights.
        state_specs: those of the arrays that `read_state` returns.
        notes: of the writer.
    """

    path: Path
    endpoints: Mapping[str, LoadedEndpoint]
    weights: list[HostArray]
    weight_specs: tuple[ArraySpec, ...]
    state_specs: tuple[ArraySpec, ...]
    notes: Mapping[str, Any]

    def read_state(self) -> list[HostArray]:
        """Reads the arrays that no endpoint needs. Blocks until they are read.

        Raises:
            ExportError: they are damaged.
        """
        with _damage(self.path):
            return _read_arrays(self.path / STATE, self.state_specs)


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
                tuple(ArraySpec.from_json(entry) for entry in described["inputs"]),
                tuple(ArraySpec.from_json(entry) for entry in described["outputs"]),
                read_program(folder / f"{name}.stablehlo", described["sha256"]),
            )
            for name, described in manifest["endpoints"].items()
        }
        weight_specs, state_specs = (
            tuple(ArraySpec.from_json(entry) for entry in manifest[part])
            for part in (WEIGHTS, STATE)
        )
        weights = _read_arrays(folder / WEIGHTS, weight_specs)
        return Artifact(folder, endpoints, weights, weight_specs, state_specs, manifest["notes"])


def is_artifact(path: str | os.PathLike[str]) -> bool:
    """Tells whether a directory looks like an artifact; it may be damaged all the same."""
    return (Path(path) / MANIFEST).is_file()


def _read_arrays(folder: Path, specs: Sequence[ArraySpec]) -> list[HostArray]:
    if not specs:
        return []
    with ocp.PyTreeCheckpointer() as checkpointer:
        restored = checkpointer.restore(folder)
    arrays = [np.asarray(restored[str(index)]) for index in range(len(specs))]
    for spec, array in zip(specs, arrays, strict=True):
        if (array.shape, array.dtype.name) != (spec.shape, spec.dtype):
            raise ValueError(
                f"{spec} was expected, but {array.dtype.name}{list(array.shape)} is there"
            )
    return arrays


def _manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no directory {folder} to load. Check the path.")
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
            f"{folder} is not a saved model: expected {MANIFEST} in it, but found {found}. Check the path, "
            f"or write one: {Remedy.SAVE_MODEL.spelled()}."
        )
    with _damage(folder):
        manifest = json.loads((folder / MANIFEST).read_text())
        if manifest["format"] != FORMAT:
            raise ValueError(f"its format is {manifest['format']!r}, not {FORMAT!r}")
        version = manifest["version"]
    if version != VERSION:
        raise ExportError(
            f"{folder} has version {version} of the format, but this jaxtribute reads version "
            f"{VERSION}. Load it with the jaxtribute that wrote it, or save the model again."
        )
    return manifest


@contextlib.contextmanager
def _damage(folder: Path) -> Generator[None]:
    """Names the artifact in errors, whatever part of it is damaged."""
    try:
        yield
    except Exception as error:
        raise ExportError(
            f"The saved model {folder} is damaged, or JAX {jax.__version__} cannot read it: "
            f"{type(error).__name__}: {error}. Copy the directory again, or save the model again; "
            f'{MANIFEST} names the version that wrote it under "jax".'
        ) from error
