"""Mutated manifests of a checkpoint."""

import contextlib
import json
import os
import random
import zlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from spmd.checkpoint import Checkpoint, CheckpointError, verify
from tests.benchmarks.fuzz.files import Touched, listed, watched
from tests.benchmarks.fuzz.mutations import mutated, mutated_bytes


class Counter:
    """An iterator whose position is kept."""

    def __init__(self) -> None:
        self.position = 0

    def get_state(self) -> dict[str, int]:
        """Returns the position."""
        return {"position": self.position}

    def set_state(self, state: dict[str, int]) -> None:
        """Goes on from a position."""
        self.position = state["position"]


def objects() -> Checkpoint:
    """Makes one of each kind of object that a checkpoint has."""
    return Checkpoint(
        a=jnp.ones(3), key=jax.random.key(0), n=1, s="x", d={"l": [1, 2.5]}, data=Counter()
    )


def content_of(path: Path) -> dict[str, Any]:
    """Reads what the manifest of a checkpoint holds."""
    return json.loads(json.loads((path / "manifest.json").read_text())["content"])


def write(path: Path, content: object) -> None:
    """Writes another manifest, whose checksum is right."""
    text = json.dumps(content)
    crc = zlib.crc32(text.encode())
    (path / "manifest.json").write_text(json.dumps({"crc32": crc, "content": text}))


class Manifests:
    """A checkpoint whose manifest is another one in each case; it is restored or refused, and nothing else is touched."""

    def __init__(self, folder: Path) -> None:
        (folder / "secret").write_text("secret")
        self._path = folder / "run" / "ckpt"
        checkpoint = objects()
        checkpoint.save(self._path, notes={"step": 1})
        checkpoint.wait()
        self._folder, self._content = folder, content_of(self._path)
        self._text = (self._path / "manifest.json").read_bytes()
        self._before = listed(folder)

    def attempt(self, chance: random.Random) -> str:
        """Restores from one; returns what became of it."""
        if chance.random() < 0.25:
            (self._path / "manifest.json").write_bytes(mutated_bytes(self._text, chance))
        elif chance.random() < 0.2:
            write(self._path, mutated(self._content, chance))
        else:  # what is not about files, and gets further
            parts = {name: self._content[name] for name in ("nodes", "positions", "notes")}
            changed = mutated(parts, chance)
            write(
                self._path, {**self._content, **changed} if isinstance(changed, dict) else changed
            )
        with watched() as touched:
            outcome = self._restore()
        return _outside(touched, self._path) or outcome

    def _restore(self) -> str:
        with contextlib.suppress(CheckpointError):
            verify(str(self._path))
            objects().restore(self._path)
            return "accepted"
        return "refused"

    def close(self) -> None:
        """Fails if a file beside the manifest has changed."""
        after = listed(self._folder)
        changed = {
            name for name in {*self._before, *after} if self._before.get(name) != after.get(name)
        }
        assert all(name in ("run/ckpt", "run/ckpt/manifest.json") for name in changed), changed


def _outside(touched: Touched, folder: Path) -> str:
    # A cache that JAX once opened stays in use when its setting has changed.
    caches = (
        str(jax.config.values["jax_compilation_cache_dir"] or os.devnull),
        os.path.expanduser("~/.cache/jaxtribute/"),
    )
    paths = [path for path in touched.outside(folder, reads=True) if not path.startswith(caches)]
    return f"touched {', '.join(paths)}" if paths else ""
