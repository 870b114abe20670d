r"""The text file `checkpoint`, which names the latest checkpoint of its folder.

A *prefix* is the path that a checkpoint was saved under, `dir/ckpt_3`: the names of its files begin with it. The
file names it as TensorFlow does, relative to the folder:

    model_checkpoint_path: "ckpt_3"
    all_model_checkpoint_paths: "ckpt_3"

A `CheckpointManager` adds when each was saved, and when the last preserved one was.
"""

import dataclasses
import logging
import os
import re
import time
import warnings
from collections.abc import Iterator, Sequence

from spmd.checkpoint import (
    DamagedCheckpointWarning,
    check_path,
    checkpoint_folder,
    is_checkpoint,
    newest_intact,
    numbered_checkpoints,
    saved_at,
    wait_for_saves,
)
from spmd.cluster import process_id
from spmd.files import StorePath, absolute, is_url, path_of, plain
from spmd.typing import StrPath

# Endings of files beside a prefix: Keras's weights, and TensorFlow's checkpoints.
_ENDINGS = (".weights.h5", ".index")
# A line: a name, and a text in quotes or a number.
_FIELD = re.compile(r'^\s*(\w+)\s*:\s*(?:"((?:[^"\\]|\\.)*)"|([-+.\deE]+))\s*$', re.MULTILINE)

# A numbered checkpoint's folder; what follows the number is of a save that was killed.
_NUMBERED = re.compile(r"(.+)-\d+(?:\.\w+)?")

# Seconds from the end of a save until the file names it, with ample time for a slow file system.
_RECORDING = 1.0


@dataclasses.dataclass(frozen=True)
class CheckpointState:
    """What the file `checkpoint` of a folder says.

    Attributes:
        model_checkpoint_path: prefix of the latest checkpoint.
        all_model_checkpoint_paths: prefixes of all that are kept, oldest first.
        all_model_checkpoint_timestamps: when each of them was saved, in seconds since 1970; may be empty.
        last_preserved_timestamp: when the last one was saved that is never deleted.
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: tuple[str, ...]
    all_model_checkpoint_timestamps: tuple[float, ...] = ()
    last_preserved_timestamp: float = 0.0


def get_checkpoint_state(
    checkpoint_dir: StrPath, latest_filename: str | None = None
) -> CheckpointState | None:
    """Reads the file `checkpoint` of a folder, or the one named `latest_filename`; None if there is none.

    Paths in it are absolute, or relative as seen from here.

    Raises:
        ValueError: the file names no checkpoint.

    Source: `tf.train.get_checkpoint_state`.
    """
    folder = plain(checkpoint_dir)
    path = os.path.join(folder, latest_filename or "checkpoint")
    if not path_of(path).is_file():
        return None
    state = _read_state(path)
    if state is None:
        raise ValueError(
            f"{path} names no checkpoint: it has no line such as 'model_checkpoint_path: \"ckpt_1\"'. "
            "Remove the file, or write the line with the latest checkpoint's name."
        )
    return state


def _read_state(path: str) -> CheckpointState | None:
    """Reads a file `checkpoint`; None if it names none."""
    folder = os.path.dirname(path)
    fields = _FIELD.findall(path_of(path).read_text(encoding="utf-8", errors="replace"))

    def paths(name: str) -> list[str]:
        texts = [text for key, text, number in fields if key == name and not number]
        return [_seen_from(folder, _unescaped(text)) for text in texts]

    def times(name: str) -> list[float]:
        return [float(number) for key, _, number in fields if key == name and number]

    try:
        latest = paths("model_checkpoint_path")[-1:]
        every = paths("all_model_checkpoint_paths") or latest
        when = times("all_model_checkpoint_timestamps")
        preserved = times("last_preserved_timestamp")[-1:]
    except ValueError:  # an escape or a number that is none
        return None
    if not latest:
        return None
    return CheckpointState(
        latest[0], tuple(every), tuple(when if len(when) == len(every) else ()), *preserved
    )


def find_checkpoint_state(
    checkpoint_dir: StrPath, latest_filename: str | None = None, name: str | None = None
) -> CheckpointState | None:
    """Reads the file `checkpoint` of a folder; if it is missing or names none, looks what the folder holds.

    Args:
        checkpoint_dir: the folder.
        latest_filename: name of the file.
        name: the checkpoints to look for are `<name>-<number>`; None takes any name.

    Returns:
        None if there is no checkpoint. A warning says if there are some and the file does not name them.

    Raises:
        ValueError: the file names no checkpoint, and the folder has none.
    """
    folder = plain(checkpoint_dir)
    path = os.path.join(folder, latest_filename or "checkpoint")
    is_there = path_of(path).is_file()
    state = _read_state(path) if is_there else None
    if state is not None:
        return state
    # Another file is of the caller's own, and may be missing on purpose.
    found = _saved_in(folder, name) if latest_filename in (None, "checkpoint") else {}
    if not found:
        return get_checkpoint_state(checkpoint_dir, latest_filename)
    latest = list(found)[-1]
    while not is_there and time.time() < found[latest] + _RECORDING:
        # Another process has just saved its first, and writes the file now.
        time.sleep(_RECORDING / 10)
        if path_of(path).is_file():
            return get_checkpoint_state(checkpoint_dir, latest_filename)
    warnings.warn(
        f"{path} {'names no checkpoint' if is_there else 'is missing'}, but {folder} has {len(found)}: training goes on "
        f"from {os.path.basename(latest)}, if it is intact. To start anew, move the folder away.",
        DamagedCheckpointWarning,
        stacklevel=3,
    )
    return CheckpointState(latest, tuple(found), tuple(found.values()))


def _saved_in(folder: str, name: str | None) -> dict[str, float]:
    """Lists the complete checkpoints of a folder, and when each was saved; the latest comes last."""
    if not path_of(folder).is_dir():
        return {}
    hits = (_NUMBERED.fullmatch(entry.name) for entry in path_of(folder).iterdir())
    names = {hit[1] for hit in hits if hit} if name is None else {name}
    runs = [list(numbered_checkpoints(folder, each).values()) for each in sorted(names)]
    times = [{path: saved_at(path) for path in paths} for paths in runs if paths]
    found: dict[str, float] = {}
    for run in sorted(times, key=lambda run: max(run.values())):
        found |= run
    return found


def latest_checkpoint(checkpoint_dir: StrPath, latest_filename: str | None = None) -> str | None:
    """Finds the latest intact checkpoint of a folder.

    What differs here: the files of a `tf.train.Checkpoint` are verified; if one is damaged, it warns and takes the
    one before. If the file `checkpoint` is missing or damaged, it warns and takes the latest of the folder. It waits for a save of this process. Any process may call it alone, and each looks on its own;
    `checkpoint.restore` then takes what process 0 found.

    Returns:
        Its prefix, for `checkpoint.restore` or `model.load_weights`; None if the folder has no checkpoint, or its
        files are gone.

    Raises:
        ValueError: all checkpoints are damaged; or the file names none, and the folder has none.
        OSError: the object store of a URL does not answer.

    Source: `tf.train.latest_checkpoint`.
    """
    check_path(checkpoint_dir)
    wait_for_saves()
    found, before = None, None
    while (state := find_checkpoint_state(checkpoint_dir, latest_filename)) not in (None, before):
        latest, before = state.model_checkpoint_path, state
        if _has_files_beside(latest):
            return latest
        found = newest_intact(_candidates(state))
        if found is not None:
            return found
        # Another process may have saved the next one, and deleted what was named here.
    if before is not None:
        latest = before.model_checkpoint_path
        logging.getLogger(__name__).error("Couldn't match files for checkpoint %s", latest)
    return found


def _candidates(state: CheckpointState) -> Iterator[str]:
    """Lists checkpoints, the latest first: those that the file names, then older ones."""
    both = [state.model_checkpoint_path, *state.all_model_checkpoint_paths[::-1]]
    named = list(dict.fromkeys(both))
    yield from filter(is_present, named)
    for prefix in named:
        name, _, number = os.path.basename(prefix).rpartition("-")
        if number.isdigit():
            before = numbered_checkpoints(os.path.dirname(prefix), name)
            others = [before[n] for n in reversed(before) if n < int(number)]
            yield from (path for path in others if path not in named)
            return


def is_present(prefix: str) -> bool:
    """Tells whether any files of a checkpoint are there."""
    prefix = plain(prefix)
    if is_url(prefix):
        return is_checkpoint(prefix) or _has_files_beside(prefix)
    return os.path.isdir(checkpoint_folder(prefix)) or _has_files_beside(prefix)


def checkpoint_exists(checkpoint_prefix: StrPath) -> bool:
    """Tells whether there is a checkpoint, of this project or of TensorFlow.

    Args:
        checkpoint_prefix: what it was saved under.

    Source: `tf.compat.v1.train.checkpoint_exists`.
    """
    prefix = plain(checkpoint_prefix)
    return is_checkpoint(prefix) or _has_files_beside(prefix)


def _has_files_beside(prefix: str) -> bool:
    return any(path_of(prefix + ending).exists() for ending in _ENDINGS)


def update_checkpoint_state(
    prefix: str,
    kept: Sequence[str] = (),
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
    folder: str | None = None,
) -> None:
    """Records a checkpoint as the latest of its folder.

    Args:
        prefix: the path that it was saved under.
        kept: the prefixes of all that are kept, oldest first; by default only this one.
        timestamps: when these were saved, in seconds since 1970.
        last_preserved: when the last one was saved that is never deleted.
        folder: where to record it, if it is not the checkpoint's folder.
    """
    folder = os.path.dirname(prefix) if folder is None else folder
    lines = [f'model_checkpoint_path: "{_escaped(prefix, folder)}"']
    lines += [
        f'all_model_checkpoint_paths: "{_escaped(path, folder)}"' for path in kept or [prefix]
    ]
    lines += [f"all_model_checkpoint_timestamps: {time!r}" for time in timestamps]
    if last_preserved is not None:
        lines.append(f"last_preserved_timestamp: {last_preserved!r}")
    path, text = os.path.join(folder, "checkpoint"), "".join(f"{line}\n" for line in lines)
    if is_url(path):
        StorePath(path).write_text(text)
        return
    with open(f"{path}.new{process_id()}", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    # A concurrent reader finds the old file or the new one, never a part.
    os.replace(file.name, path)


def _escaped(prefix: str, folder: str) -> str:
    # Relative, so that a folder can be moved; absolute, if the checkpoint is in another folder.
    beside = os.path.dirname(prefix) == folder
    name = os.path.basename(prefix) if beside else absolute(prefix)
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _seen_from(folder: str, name: str) -> str:
    return name if is_url(name) else os.path.join(folder, name)


def _unescaped(text: str) -> str:
    # Protocol buffers write non-ASCII characters as octal bytes, or unchanged.
    return text.encode().decode("unicode_escape").encode("latin-1").decode()
