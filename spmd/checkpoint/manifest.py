r"""What makes a folder a checkpoint: `manifest.json`, written last, and a name that it gets when it is complete.

A checkpoint is written into a folder beside its place, `ckpt-3.saving`. When all arrays are there, the manifest
is written: the graph of objects, and the size and CRC-32 of every file, its own included. Then the folder gets
its name. So a folder with the name is complete, whenever a process was killed; and a file that was cut,
removed or changed later is found before anything of it is used. One that is replaced is `ckpt-3.replaced`
until the new one has the name, and is the checkpoint if nothing has.
"""

import json
import os
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spmd.checkpoint.errors import CheckpointNotFoundError, DamagedCheckpointError
from spmd.checkpoint.graph import Entry, Saved

FORMAT = "jaxtribute checkpoint 1"
ARRAYS = "arrays"
_NAME = "manifest.json"
_SAVING = ".saving"
REPLACED = ".replaced"


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint says of itself.

    Attributes:
        nodes: the graph of objects; the root is the first.
        positions: of iterators: for each process, by path.
        notes: what the one who saved adds: a step, a metric.
    """

    nodes: Sequence[Saved]
    positions: Sequence[Mapping[str, Any]]
    notes: Mapping[str, Any]

    @property
    def entries(self) -> list[Entry]:
        """All arrays."""
        return [entry for node in self.nodes for entry in node.entries]


def folder_of(path: str) -> str:
    """Finds the folder that a checkpoint is in.

    It has the checkpoint's name, unless the save that was to replace it was killed between two renames.

    Args:
        path: the checkpoint's.
    """
    replaced = path + REPLACED
    return replaced if not os.path.isdir(path) and os.path.isdir(replaced) else path


def saving_path(path: str) -> str:
    """Names the folder in which a checkpoint is written.

    Args:
        path: the checkpoint's.
    """
    return path + _SAVING


def prepare(path: str) -> None:
    """Makes room for the folder in which a checkpoint is written. One process calls it.

    Args:
        path: the checkpoint's.
    """
    shutil.rmtree(saving_path(path), ignore_errors=True)
    os.makedirs(saving_path(path))


def commit(path: str, manifest: Manifest) -> None:
    """Makes a checkpoint of a folder whose arrays are written. One process calls it.

    Args:
        path: the checkpoint's; one that is there already is replaced.
        manifest: what it is to say.
    """
    folder = saving_path(path)
    content = {
        "format": FORMAT,
        "nodes": [asdict(node) for node in manifest.nodes],
        "positions": list(manifest.positions),
        "notes": dict(manifest.notes),
        "files": {name: _fingerprint(os.path.join(folder, name)) for name in _files(folder)},
    }
    text = json.dumps(content)
    with open(os.path.join(folder, _NAME), "w", encoding="utf-8") as file:
        file.write(json.dumps({"crc32": zlib.crc32(text.encode()), "content": text}))
        file.flush()
        os.fsync(file.fileno())
    if os.path.lexists(path):
        shutil.rmtree(path + REPLACED, ignore_errors=True)
        os.rename(path, path + REPLACED)
    os.rename(folder, path)
    shutil.rmtree(path + REPLACED, ignore_errors=True)
    _sync_folder(os.path.dirname(path))


def read_manifest(path: str) -> Manifest:
    """Reads what a checkpoint says of itself, without looking at the arrays.

    Args:
        path: the checkpoint's.

    Returns:
        The manifest.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: the manifest is missing or damaged.
    """
    return _parsed(_content(path))


def verify(path: str) -> None:
    """Reads a checkpoint back, and compares every file with what was written.

    Any process may call it; it does not wait for others.

    Args:
        path: the checkpoint's.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: a file is missing, too short, or has other contents; the message names it.

    Examples:
        >>> import tempfile, spmd.checkpoint
        >>> checkpoint = spmd.checkpoint.Checkpoint(step=3)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
        >>> checkpoint.wait()
        >>> spmd.checkpoint.verify(path)
    """
    content, folder = _content(path), folder_of(path)
    for name, written in content["files"].items():
        file = os.path.join(folder, name)
        try:
            found = _fingerprint(file)
        except FileNotFoundError as error:  # another process may be deleting the checkpoint
            raise _damaged(folder, name, "it is missing") from error
        if found[0] != written[0]:
            raise _damaged(folder, name, f"it has {found[0]} bytes, and {written[0]} were written")
        if found != written:
            raise _damaged(
                folder, name, f"its CRC-32 is {found[1]:08x}, and {written[1]:08x} was written"
            )


def is_checkpoint(path: str) -> bool:
    """Tells whether a folder is a checkpoint that was written to its end; `verify` tells whether it still is whole.

    Args:
        path: any path.
    """
    if path.endswith((_SAVING, REPLACED)):
        return False
    return os.path.isfile(os.path.join(folder_of(path), _NAME))


def remove_leftovers(directory: str) -> list[str]:
    """Removes what saves that were killed left behind. One process calls it, while nothing is saved.

    Args:
        directory: where checkpoints are.

    Returns:
        The names of the folders that were removed.
    """
    if not os.path.isdir(directory):
        return []
    removed: list[str] = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.endswith(REPLACED) and not os.path.exists(path.removesuffix(REPLACED)):
            # Killed between the two renames of a replacement: the former one is what there is.
            os.rename(path, path.removesuffix(REPLACED))
        elif name.endswith((_SAVING, REPLACED)) and os.path.isdir(path):
            shutil.rmtree(path)
            removed.append(name)
    return removed


def remove(path: str) -> None:
    """Deletes a checkpoint, so that a process that is killed meanwhile leaves no part of one.

    Args:
        path: the checkpoint's.
    """
    if os.path.isdir(path):
        # Else it would come back as what it had replaced.
        shutil.rmtree(path + REPLACED, ignore_errors=True)
    folder = folder_of(path)
    if os.path.isdir(folder):
        shutil.rmtree(saving_path(path), ignore_errors=True)
        os.rename(folder, saving_path(path))
        shutil.rmtree(saving_path(path))


def _content(path: str) -> Any:
    folder = folder_of(path)
    file = os.path.join(folder, _NAME)
    if not os.path.isdir(folder):
        raise CheckpointNotFoundError(
            f"There is no checkpoint at {path}. Check the path; you may be missing the number at its end "
            "(the '-1' in 'path/to/ckpt-1')."
        )
    try:
        with open(file, encoding="utf-8") as stream:
            whole = json.load(stream)
        text = whole["content"]
        if zlib.crc32(text.encode()) != whole["crc32"]:
            raise _damaged(folder, _NAME, "its checksum does not fit its contents")
        content = json.loads(text)
    except FileNotFoundError as error:
        raise _damaged(folder, _NAME, "it is missing") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, DamagedCheckpointError):
            raise
        raise _damaged(folder, _NAME, f"it is not what was written ({error})") from error
    if content["format"] != FORMAT:
        raise DamagedCheckpointError(
            f"{file} has the format {content['format']!r}, and this version reads {FORMAT!r}. Read it with the "
            "version that wrote it."
        )
    return content


def _parsed(content: Any) -> Manifest:
    nodes = [
        Saved(
            node["path"],
            node["kind"],
            node["children"],
            tuple(
                Entry(entry["name"], tuple(entry["shape"]), entry["dtype"], entry["prng"])
                for entry in node["entries"]
            ),
            node["value"],
        )
        for node in content["nodes"]
    ]
    return Manifest(nodes, content["positions"], content["notes"])


def _damaged(path: str, name: str, reason: str) -> DamagedCheckpointError:
    return DamagedCheckpointError(
        f"The checkpoint {path} is damaged: {os.path.join(path, name)}: {reason}. Restore the one before it."
    )


def _files(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(parent, name), folder)
        for parent, _, names in os.walk(folder)
        for name in names
    )


def _fingerprint(file: str) -> list[int]:
    size, crc = 0, 0
    with open(file, "rb") as stream:
        while block := stream.read(1 << 20):
            size, crc = size + len(block), zlib.crc32(block, crc)
    return [size, crc]


def _sync_folder(folder: str) -> None:
    # The name itself has to reach the disk, too.
    descriptor = os.open(folder or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
