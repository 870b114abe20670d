r"""The text file `checkpoint`, which says what the latest checkpoint of its folder is.

A *prefix* is the path that a checkpoint was saved under, `dir/ckpt_3`. It is the start of the names of
the checkpoint's files, and stands in the file as TensorFlow writes it, relative to the folder:

    model_checkpoint_path: "ckpt_3"
    all_model_checkpoint_paths: "ckpt_3"

A manager of checkpoints adds when each was saved, and when it last kept one for good.
"""

import dataclasses
import logging
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from spmd.checkpoint import Save, folder_of, newest_intact, numbered
from spmd.cluster import process_id

# What the names of a checkpoint's files end in: Keras's weights, and TensorFlow's own.
_ENDINGS = (".weights.h5", ".index")
_FIELD = re.compile(r'^\s*(\w+)\s*:\s*"((?:[^"\\]|\\.)*)"\s*$', re.MULTILINE)
_NUMBER = re.compile(r"^\s*(\w+)\s*:\s*([-+.\deE]+)\s*$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class CheckpointState:
    """What the file `checkpoint` of a folder says.

    Attributes:
        model_checkpoint_path: prefix of the latest checkpoint.
        all_model_checkpoint_paths: prefixes of all that are kept, oldest first.
        all_model_checkpoint_timestamps: when each of them was saved, in seconds since 1970; may be empty.
        last_preserved_timestamp: when the last one was saved that is kept for good.
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: tuple[str, ...]
    all_model_checkpoint_timestamps: tuple[float, ...] = ()
    last_preserved_timestamp: float = 0.0


def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """Reads the file `checkpoint` of a folder.

    Args:
        checkpoint_dir: the folder.
        latest_filename: name of the file, if it is another.

    Returns:
        What it says, with the folder in front of relative paths; None if there is no such file.

    Raises:
        ValueError: the file names no checkpoint.

    Examples:
        >>> from frontends import tf
        >>> tf.train.get_checkpoint_state("no/such/folder") is None
        True

    Source: `tf.train.get_checkpoint_state`.
    """
    folder = os.fspath(checkpoint_dir)
    path = os.path.join(folder, latest_filename or "checkpoint")
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        text = file.read()
    fields, numbers = _FIELD.findall(text), _NUMBER.findall(text)
    found = {
        name: [os.path.join(folder, _unescaped(text)) for key, text in fields if key == name]
        for name in ("model_checkpoint_path", "all_model_checkpoint_paths")
    }
    if not found["model_checkpoint_path"]:
        raise ValueError(
            f"{path} names no checkpoint: it has no line such as 'model_checkpoint_path: \"ckpt_1\"'. "
            "Remove the file, or write the line with the latest checkpoint's name."
        )
    latest = found["model_checkpoint_path"][-1]
    times, preserved = (
        tuple(float(number) for key, number in numbers if key == name)
        for name in ("all_model_checkpoint_timestamps", "last_preserved_timestamp")
    )
    paths = tuple(found["all_model_checkpoint_paths"] or [latest])
    return CheckpointState(latest, paths, times, *preserved[-1:])


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Finds the latest checkpoint of a folder that is whole.

    Checkpoints of `tf.train.Checkpoint` are read and checked. Of a damaged one it warns, and takes the one before
    it. One that this process is still saving is waited for.

    Any process may call it alone, so each finds for itself; `checkpoint.restore` then takes what the first one found.

    Args:
        checkpoint_dir: the folder that checkpoints were saved in.
        latest_filename: name of the file that says which is the latest, if it is not `checkpoint`.

    Returns:
        The checkpoint's prefix, for `checkpoint.restore` or `model.load_weights`; None if the folder has no
        checkpoint, or its files are gone.

    Raises:
        ValueError: the file names no checkpoint.

    Examples:
        >>> from frontends import tf
        >>> tf.train.latest_checkpoint("no/such/folder") is None
        True

    Source: `tf.train.latest_checkpoint`.
    """
    Save.settle()
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    latest = state.model_checkpoint_path
    if any(os.path.exists(latest + ending) for ending in _ENDINGS):
        return latest
    found = newest_intact(_candidates(state))
    if found is None:
        logging.getLogger(__name__).error("Couldn't match files for checkpoint %s", latest)
    return found


def _candidates(state: CheckpointState) -> Iterator[str]:
    """Lists checkpoints from the latest back: those that the file names, and those before them."""
    named = list(
        dict.fromkeys([state.model_checkpoint_path, *state.all_model_checkpoint_paths[::-1]])
    )
    yield from filter(is_present, named)
    for prefix in named:
        name, _, number = os.path.basename(prefix).rpartition("-")
        if number.isdigit():
            before = numbered(os.path.dirname(prefix), name)
            others = [before[n] for n in reversed(before) if n < int(number)]
            yield from (path for path in others if path not in named)
            return


def is_present(prefix: str) -> bool:
    """Tells whether there is anything of a checkpoint.

    Args:
        prefix: the path that it was saved under.
    """
    return os.path.isdir(folder_of(prefix)) or any(
        os.path.exists(prefix + ending) for ending in _ENDINGS
    )


def update_checkpoint_state(
    prefix: str,
    kept: Sequence[str] = (),
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
    folder: str | None = None,
) -> None:
    """Says in the folder of a checkpoint that it is the latest one.

    Args:
        prefix: the path that it was saved under.
        kept: the prefixes of all that are known, oldest first; by default it is the only one.
        timestamps: when these were saved, in seconds since 1970.
        last_preserved: when the last one was saved that is kept for good.
        folder: where to say it, if it is not the checkpoint's folder.
    """
    folder = os.path.dirname(prefix) if folder is None else folder
    lines = [f'model_checkpoint_path: "{_escaped(prefix, folder)}"']
    lines += [
        f'all_model_checkpoint_paths: "{_escaped(path, folder)}"' for path in kept or [prefix]
    ]
    lines += [f"all_model_checkpoint_timestamps: {time!r}" for time in timestamps]
    if last_preserved is not None:
        lines.append(f"last_preserved_timestamp: {last_preserved!r}")
    path = os.path.join(folder, "checkpoint")
    with open(f"{path}.new{process_id()}", "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())
    # A process that reads at the same time finds the former file or the new one, never a part.
    os.replace(file.name, path)


def _escaped(prefix: str, folder: str) -> str:
    # Relative, so that a folder can be moved; but from elsewhere a checkpoint is found as long as it is there.
    beside = os.path.dirname(prefix) == folder
    name = os.path.basename(prefix) if beside else os.path.abspath(prefix)
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _unescaped(text: str) -> str:
    # Protocol buffers write what is no ASCII as octal bytes, or as it is.
    return text.encode().decode("unicode_escape").encode("latin-1").decode()
