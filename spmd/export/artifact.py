"""Artifacts: the directory and its manifest, written and read."""

import contextlib
import dataclasses
import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import jax
import numpy as np

from spmd.errors import ExportError, Remedy
from spmd.export.endpoint import (
    PLATFORMS,
    ArraySpec,
    Endpoint,
    LoadedEndpoint,
    compile_endpoint,
    read_program,
    spec_of,
)
from spmd.files import StorePath, absolute, path_of, read_here
from spmd.typing import StrPath

HostArray: TypeAlias = np.ndarray[Any, Any]

_MANIFEST = "manifest.json"
_FORMAT = "jaxtribute-export"
# The second has all files but the manifest in a folder, which the manifest names.
_VERSION, _VERSION_WITH_FOLDER = 1, 2
_WEIGHTS = "weights"
_STATE = "state"
# The manifest's key for the folder that holds all other files, and the name of that: not one that a checkpoint's may have.
_FOLDER = "folder"
_PARTS = re.compile(r"jaxtribute-export-[0-9a-f]{16}")
_TRIES = 3


@dataclasses.dataclass(frozen=True)
class Artifact:
    """What a directory holds.

    Attributes:
        path: the directory.
        folder: where its files are: `path` itself, or a folder in it.
        endpoints: by name.
        weights: in host memory.
        weight_specs: names, shapes and dtypes of the weights.
        state_specs: those of the arrays that `read_state` returns.
        notes: of the writer.
    """

    path: Path | StorePath
    folder: Path | StorePath
    endpoints: Mapping[str, LoadedEndpoint]
    weights: list[HostArray]
    weight_specs: tuple[ArraySpec, ...]
    state_specs: tuple[ArraySpec, ...]
    notes: Mapping[str, Any]

    def read_state(self) -> list[HostArray]:
        """Reads the arrays that no endpoint needs. Blocks until they are read.

        Raises:
            ExportError: they are damaged, or the artifact was replaced since it was loaded.
        """
        if not self.state_specs:
            return []
        if not self.folder.is_dir():
            raise ExportError(
                f"The saved model {self.path} was replaced or removed since it was loaded. Load it again."
            )
        with _damage(self.path), read_here(self.folder / _STATE) as here:
            return _read_arrays(Path(here), self.state_specs)


def load(path: str | os.PathLike[str]) -> Artifact:
    """Reads an artifact. Blocks until it is read; compiles nothing yet.

    Args:
        path: the directory, or its URL in an object store.

    Returns:
        What it holds.

    Raises:
        FileNotFoundError: there is no such directory.
        ExportError: it holds something else, is damaged, or was written by a newer version.

    Source: `tf.saved_model.load`.
    """
    where = path_of(absolute(path))
    for remaining in reversed(range(_TRIES)):
        manifest = _manifest(where)
        try:
            return _load(where, manifest)
        except ExportError:
            # Unless another process has replaced it meanwhile.
            if not remaining or _manifest(where) == manifest:
                raise
    raise AssertionError  # the last attempt returns or raises


def _load(where: Path | StorePath, manifest: Mapping[str, Any]) -> Artifact:
    parts = _folder_of(where, manifest)
    with _damage(where), read_here(parts) as here:
        folder = Path(here)
        endpoints = {
            name: LoadedEndpoint(
                name,
                _specs(described["inputs"]),
                _specs(described["outputs"]),
                read_program(folder / _file_of(name), described["sha256"]),
            )
            for name, described in manifest["endpoints"].items()
        }
        specs, state_specs = _specs(manifest[_WEIGHTS]), _specs(manifest[_STATE])
        weights = _read_arrays(folder / _WEIGHTS, specs)
        return Artifact(where, parts, endpoints, weights, specs, state_specs, manifest["notes"])


def _folder_of(path: Path | StorePath, manifest: Mapping[str, Any]) -> Path | StorePath:
    """Returns the folder that the other files are in."""
    name = manifest.get(_FOLDER)
    if name is None:
        return path
    with _damage(path):
        if not (isinstance(name, str) and _PARTS.fullmatch(name)):  # it may not lead elsewhere
            raise ValueError(f"its folder is {name!r}")
    return path / name


def _file_of(name: str) -> str:
    """Returns the name of an endpoint's file: the endpoint's own may have a slash or a colon in it."""
    return f"{quote(name, safe=' ')}.stablehlo"


def _specs(entries: Sequence[Mapping[str, Any]]) -> tuple[ArraySpec, ...]:
    return tuple(map(ArraySpec.from_json, entries))


def is_artifact(path: str | os.PathLike[str]) -> bool:
    """Tells whether a directory looks like an artifact; it may be damaged all the same."""
    return path_of(path).joinpath(_MANIFEST).is_file()


def _is_of_this_format(path: Path | StorePath) -> bool:
    """Tells whether a path is that of an artifact, of any version: others have manifests, too."""
    try:
        return json.loads(path.joinpath(_MANIFEST).read_text())["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError):
        return False


def remove(path: str | os.PathLike[str]) -> None:
    """Deletes an artifact: in an object store its manifest first, without which it is none.

    Raises:
        OSError: it cannot be deleted.
    """
    where = path_of(absolute(path))
    if isinstance(where, StorePath):
        with contextlib.suppress(FileNotFoundError):
            (where / _MANIFEST).unlink()
        where.rmtree()
    else:
        shutil.rmtree(where)


def _read_arrays(folder: Path, specs: Sequence[ArraySpec]) -> list[HostArray]:
    if not specs:
        return []
    with _orbax().PyTreeCheckpointer() as checkpointer:
        restored = checkpointer.restore(folder)
    arrays = [np.asarray(restored[str(index)]) for index in range(len(specs))]
    for spec, array in zip(specs, arrays, strict=True):
        if spec_of(spec.name, array) != spec:
            found = f"{array.dtype.name}{list(array.shape)}"
            raise ValueError(f"{spec} was expected, but {found} is there")
    return arrays


def _manifest(folder: Path | StorePath) -> dict[str, Any]:
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
            f"{folder} is not a saved model: expected {_MANIFEST} in it, but found {found}. Check the path, "
            f"or write one: {Remedy.SAVE_MODEL.spelled()}."
        )
    with _damage(folder):
        manifest = json.loads((folder / _MANIFEST).read_text())
        if manifest["format"] != _FORMAT:
            raise ValueError(f"its format is {manifest['format']!r}, not {_FORMAT!r}")
        version = manifest["version"]
    if version not in (_VERSION, _VERSION_WITH_FOLDER):
        raise ExportError(
            f"{folder} has version {version} of the format, but this jaxtribute reads versions "
            f"{_VERSION} and {_VERSION_WITH_FOLDER}. Load it with the jaxtribute that wrote it, or save the model again."
        )
    return manifest


@contextlib.contextmanager
def _damage(folder: Path | StorePath) -> Generator[None]:
    """Names the artifact in errors, whatever part of it is damaged."""
    try:
        yield
    except Exception as error:
        raise ExportError(
            f"The saved model {folder} is damaged, or JAX {jax.__version__} cannot read it: "
            f"{type(error).__name__}: {error}. Copy the directory again, or save the model again; "
            f'{_MANIFEST} names the version that wrote it under "jax".'
        ) from error


def save(
    path: str | os.PathLike[str],
    endpoints: Mapping[str, Endpoint],
    weights: Sequence[tuple[str, Any]],
    state: Sequence[tuple[str, Any]] = (),
    notes: Mapping[str, Any] | None = None,
    assets: Mapping[str, StrPath] | None = None,
) -> dict[str, ExportError]:
    """Writes an artifact. Blocks until it is on disk or in the store; only one process must call it.

    It is written beside its path and then renamed, so a concurrent reader finds the old artifact or the new
    one. In an object store the files are put into a folder of their own, which the manifest names; that is put there last.
    Weights that are sharded over devices are gathered.

    Args:
        path: the directory, or its URL in an object store; an artifact there is replaced.
        endpoints: by name.
        weights: pairs of a name, for people, and an array; every endpoint takes all of them.
        state: likewise, but no endpoint takes them.
        notes: what JSON can hold; `load` returns it.
        assets: files to copy into it, by their paths there, such as `assets.extra/words.txt`.

    Returns:
        Why endpoints are not in it, by name: those that are not required, and cannot be exported.

    Raises:
        ExportError: the directory holds something else, or a required endpoint cannot be exported.
        OSError: a file cannot be copied, or written.

    Examples:
        >>> import tempfile, jax.numpy as jnp
        >>> from spmd.export import ArraySpec, Endpoint, load, save
        >>> def predict(weights, x):
        ...     return x @ weights[0], {}
        >>> endpoint = Endpoint(predict, ArraySpec("x", (None, 3), "float32"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = save(f"{folder}/model", {"predict": endpoint}, [("kernel", jnp.ones((3, 2)))])
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
    programs: dict[str, tuple[dict[str, Any], bytes]] = {}
    left_out: dict[str, ExportError] = {}
    for name, endpoint in endpoints.items():
        try:
            programs[name] = compile_endpoint(name, endpoint, shapes)
        except ExportError as error:
            if endpoint.required:
                raise
            left_out[name] = error
    manifest: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "jax": jax.__version__,
        "platforms": PLATFORMS,
        _WEIGHTS: [spec_of(name, array) for name, array in arrays[_WEIGHTS]],
        _STATE: [spec_of(name, array) for name, array in arrays[_STATE]],
        "endpoints": {name: described for name, (described, _) in programs.items()},
        "notes": dict(notes or {}),
    }
    with _replaced(path, frozenset(assets or ())) as folder:
        for name, (_, program) in programs.items():
            (folder / _file_of(name)).write_bytes(program)
        for part, pairs in arrays.items():
            if pairs:  # Orbax refuses to write nothing
                with _orbax().PyTreeCheckpointer() as checkpointer:
                    checkpointer.save(folder / part, {str(i): a for i, (_, a) in enumerate(pairs)})
        for name, source in (assets or {}).items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with read_here(source) as file:
                shutil.copy(file, target)
        text = json.dumps(manifest, indent=1, default=dataclasses.asdict)
        (folder / _MANIFEST).write_text(text)
    return left_out


@contextlib.contextmanager
def _replaced(path: str | os.PathLike[str], assets: frozenset[str]) -> Generator[Path]:
    """Yields a directory to write to, which replaces `path` if no error is raised; `assets` names files that readers look for."""
    target = path_of(absolute(path))
    if isinstance(target, StorePath):
        with _put(target, assets) as folder:
            yield folder
        return
    is_empty = target.is_dir() and not any(target.iterdir())
    if target.exists() and not is_empty and not _is_of_this_format(target):
        raise ExportError(
            f"{target} exists, and is not a saved model that could be replaced. Expected a new path, an "
            "empty directory, or an older saved model of jaxtribute. Choose another path, or remove it."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not mkdtemp: only the owner can read what that makes.
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


@contextlib.contextmanager
def _put(target: StorePath, assets: frozenset[str]) -> Generator[Path]:
    """Yields a directory to write to, whose files replace those of an artifact in an object store if no error is raised.

    They are put into a folder of their own, which the manifest names: it is there last, so whoever reads meanwhile finds the
    old artifact or the new one. But assets have the paths that readers know.
    """
    kept = {name.partition("/")[0] for name in assets} | {_MANIFEST}
    names = {entry.name for entry in target.iterdir()} if target.is_dir() else set[str]()
    is_stopped_save = all(map(_PARTS.fullmatch, names - kept)) and _MANIFEST not in names
    if target.is_file() or not (is_stopped_save or _is_of_this_format(target)):
        raise ExportError(
            f"{target} exists, and is not a saved model that could be replaced. Expected a new path, or an older saved model of "
            "jaxtribute. Choose another path, or remove it."
        )
    with tempfile.TemporaryDirectory(prefix="jaxtribute-") as folder:
        yield Path(folder)
        parts = f"jaxtribute-export-{uuid.uuid4().hex[:16]}"
        manifest = Path(folder, _MANIFEST)
        for file in Path(folder).rglob("*"):
            name = str(file.relative_to(folder))
            if file.is_file() and file != manifest:
                target.joinpath(*([] if name in assets else [parts]), name).upload(str(file))
        described = json.loads(manifest.read_text())
        described |= {"version": _VERSION_WITH_FOLDER, _FOLDER: parts}
        (target / _MANIFEST).write_text(json.dumps(described, indent=1))
        with contextlib.suppress(OSError):  # it is complete; the next save deletes them
            for former in (target / name for name in names - kept):
                former.rmtree() if former.is_dir() else former.unlink()


def _orbax() -> Any:
    # Slow to import, and most scripts that import this package write nothing.
    import orbax.checkpoint

    return orbax.checkpoint
