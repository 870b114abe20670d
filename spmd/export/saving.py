"""Writing artifacts."""

import contextlib
import dataclasses
import json
import os
import shutil
import uuid
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp

from spmd.errors import ExportError
from spmd.export.artifact import FORMAT, MANIFEST, STATE, VERSION, WEIGHTS, is_artifact
from spmd.export.endpoint import PLATFORMS, ArraySpec, Endpoint, compile_endpoint


def save(
    path: str | os.PathLike[str],
    endpoints: Mapping[str, Endpoint],
    weights: Sequence[tuple[str, Any]],
    state: Sequence[tuple[str, Any]] = (),
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Writes an artifact. Blocks until it is on disk; only one process must call it.

    It is written beside its path and then renamed, so a concurrent reader finds the old artifact or the new
    one. Weights that are sharded over devices are gathered.

    Args:
        path: the directory; an artifact there is replaced.
        endpoints: by name.
        weights: pairs of a name, for people, and an array; every endpoint takes all of them.
        state: likewise, but no endpoint takes them.
        notes: what JSON can hold; `load` returns it.

    Raises:
        ExportError: the directory holds something else, or an endpoint cannot be exported.

    Examples:
        >>> import tempfile, jax.numpy as jnp
        >>> from spmd.export import ArraySpec, Endpoint, load, save
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
        for part, pairs in ((WEIGHTS, weights), (STATE, state))
    }
    shapes = [jax.ShapeDtypeStruct(value.shape, value.dtype) for _, value in arrays[WEIGHTS]]
    programs = {
        name: compile_endpoint(name, endpoint, shapes) for name, endpoint in endpoints.items()
    }
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
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


@contextlib.contextmanager
def _replaced(path: str | os.PathLike[str]) -> Generator[Path]:
    """Yields a directory to write to, which replaces `path` if no error is raised."""
    target = Path(path).absolute()
    if target.exists() and not is_artifact(target) and (target.is_file() or any(target.iterdir())):
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
