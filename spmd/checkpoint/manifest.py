"""`manifest.json`: the graph of objects, and the size and CRC-32 of every file, its own included.

It is written last, so a file that is truncated, missing or changed is detected before any of it is used.
"""

import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from spmd.checkpoint.arrays import ArrayEntry
from spmd.checkpoint.errors import CheckpointError, CheckpointNotFoundError, DamagedCheckpointError
from spmd.checkpoint.layout import checkpoint_folder, is_checkpoint
from spmd.checkpoint.parts import MANIFEST
from spmd.checkpoint.schema import SchemaError, check_content
from spmd.errors import some_of
from spmd.files import StorePath, is_url, plain
from spmd.typing import StrPath

FORMAT = "jaxtribute checkpoint 1"
# Of a file, relative to the folder.
_NAME = re.compile(r"[^/\0\ud800-\udfff][^\0\ud800-\udfff]*")


@dataclass(frozen=True)
class SavedObject:
    """An object of a checkpoint, as the manifest records it.

    Attributes:
        path: where it was found when it was saved.
        kind: of its view.
        children: index of each child among all saved objects, by name.
        entries: its arrays.
        value: its number or string.
    """

    path: str
    kind: str
    children: Mapping[str, int]
    entries: tuple[ArrayEntry, ...] = ()
    value: Any = None


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint records about itself.

    Attributes:
        nodes: the graph of objects; the root is the first.
        positions: of iterators: for each process, by path.
        notes: what the caller of `save` adds: a step, a metric.
    """

    nodes: Sequence[SavedObject]
    positions: Sequence[Mapping[str, Any]]
    notes: Mapping[str, Any]


def write_manifest(folder: str, manifest: Manifest) -> None:
    """Writes the manifest into the folder of a checkpoint whose arrays are written. One process calls it."""
    text = manifest_text(manifest, fingerprints_of(folder))
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def fingerprints_of(folder: str) -> dict[str, list[int]]:
    """Returns the size and the CRC-32 of all files in a folder, by their paths in it."""
    files = sorted(file for file in Path(folder).rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): _fingerprint(file) for file in files}


def manifest_text(manifest: Manifest, files: Mapping[str, Sequence[int]]) -> str:
    """Returns what the file `manifest.json` says of a checkpoint with these files."""
    content = {
        "format": FORMAT,
        "nodes": [asdict(node) for node in manifest.nodes],
        "positions": list(manifest.positions),
        "notes": dict(manifest.notes),
        "files": dict(files),
    }
    text = json.dumps(content)
    return json.dumps({"crc32": zlib.crc32(text.encode()), "content": text})


def read_manifest(path: str) -> Manifest:
    """Reads the manifest of a checkpoint, and none of its arrays.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: the manifest is missing or damaged.
    """
    content = _content(path)
    nodes = [
        replace(SavedObject(**node), entries=tuple(_entry(**entry) for entry in node["entries"]))
        for node in content["nodes"]
    ]
    return Manifest(nodes, content["positions"], content["notes"])


def files_of(path: str, raw: bytes | None = None) -> dict[str, list[int]]:
    """Returns what a checkpoint's manifest says of its files: the size and CRC-32 of each, by its path in the checkpoint.

    Args:
        path: the checkpoint's.
        raw: what `raw_manifest` returned; None reads it.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: the manifest is missing or damaged, or names a file outside of the checkpoint.
    """
    files = _content(path, raw)["files"]
    for name in files:
        _check_within(checkpoint_folder(path), name)
    return files


def raw_manifest(path: str) -> bytes:
    """Reads the manifest of a checkpoint, whatever is in it.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: the manifest is missing.
    """
    path = plain(path)
    folder = checkpoint_folder(path)
    file = os.path.join(folder, MANIFEST)
    not_found = CheckpointNotFoundError(
        f"There is no checkpoint at {path}. Check the path; you may be missing the number at its end "
        "(the '-1' in 'path/to/ckpt-1')."
    )
    if is_url(path):
        try:
            return StorePath(file).read_bytes()
        except (FileNotFoundError, IsADirectoryError):  # a save may be putting files there
            raise not_found from None
    if not os.path.isdir(folder):
        raise not_found
    if not os.path.isfile(file):
        within = [
            one
            for one in sorted(os.listdir(folder), key=lambda name: (len(name), name))
            if is_checkpoint(os.path.join(folder, one))
        ]
        if within:
            raise CheckpointNotFoundError(
                f"{path} is a folder of checkpoints, not one of them: {some_of(within)}. Name one, as in "
                f"{os.path.join(path, within[-1])!r}."
            )
        reason = "it is not a regular file" if os.path.exists(file) else "it is missing"
        raise _damaged(folder, MANIFEST, reason)
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except FileNotFoundError as error:  # another process may be deleting the checkpoint
        raise missing_file(path, MANIFEST) from error


def attempts_of(checkpoint: StorePath) -> set[str] | None:
    """Names the attempts of a checkpoint in a store that its manifest names; None if that is damaged."""
    try:
        return {name.partition("/")[0] for name in files_of(checkpoint.url)}
    except CheckpointNotFoundError:
        return set()
    except DamagedCheckpointError:
        return None


def check_file(path: str, name: str, file: str, written: Sequence[int]) -> None:
    """Compares a file of a checkpoint with what was saved.

    Args:
        path: the checkpoint's.
        name: of the file in the checkpoint.
        file: where it is, or a copy of it.
        written: the size and the CRC-32 of what was saved.

    Raises:
        DamagedCheckpointError: it is missing, too short, or has other contents.
    """
    folder = checkpoint_folder(path)
    if os.path.exists(file) and not os.path.isfile(file):
        raise _damaged(folder, name, "it is not a regular file")
    try:
        found = _fingerprint(file)
    except FileNotFoundError as error:  # another process may be deleting the checkpoint
        raise missing_file(path, name) from error
    if found[0] != written[0]:
        raise _damaged(folder, name, f"it has {found[0]} bytes, and {written[0]} were written")
    if found != list(written):
        raise _damaged(
            folder, name, f"its CRC-32 is {found[1]:08x}, and {written[1]:08x} was written"
        )


def missing_file(path: str, name: str) -> DamagedCheckpointError:
    """Returns the error that a file of a checkpoint is missing."""
    return _damaged(checkpoint_folder(path), name, "it is missing")


def _content(path: str, raw: bytes | None = None) -> dict[str, Any]:
    folder = checkpoint_folder(path)
    file = os.path.join(folder, MANIFEST)
    try:
        whole = json.loads(raw_manifest(path) if raw is None else raw)
        is_intact = zlib.crc32(whole["content"].encode()) == whole["crc32"]
        content = json.loads(whole["content"]) if is_intact else {}
        written_as = content.get("format")
    except CheckpointError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(folder, MANIFEST, f"it is not what was written ({error})") from error
    if not is_intact:
        raise _damaged(folder, MANIFEST, "its checksum does not match its contents")
    if written_as != FORMAT:
        raise DamagedCheckpointError(
            f"{file} has the format {ascii(written_as)[:100]}, and this version reads {FORMAT!r}. Read it with the "
            "version that wrote it."
        )
    try:
        check_content(content)
    except SchemaError as error:
        raise _damaged(folder, MANIFEST, str(error)) from error
    return content


def _check_within(folder: str, name: str) -> None:
    """Checks that a file that a manifest names is in the folder of the checkpoint."""
    # By its name alone: a file may be a link, as in caches of downloaded files.
    if not _NAME.fullmatch(name) or ".." in name.split("/"):
        raise _damaged(folder, MANIFEST, f"it names a file outside of the folder: {name!a}")


def _entry(shape: Sequence[int], **fields: Any) -> ArrayEntry:
    return ArrayEntry(shape=tuple(shape), **fields)


def _damaged(folder: str, name: str, reason: str) -> DamagedCheckpointError:
    return DamagedCheckpointError(
        f"The checkpoint {folder} is damaged: {os.path.join(folder, name)}: {reason}. Restore the one before it."
    )


def _fingerprint(file: StrPath) -> list[int]:
    """Returns the size and the CRC-32 of a file."""
    size, crc = 0, 0
    with open(file, "rb") as stream:
        while block := stream.read(1 << 20):
            size, crc = size + len(block), zlib.crc32(block, crc)
    return [size, crc]
