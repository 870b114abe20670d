r"""The text file `checkpoint`, which says what the latest checkpoint of its folder is.

A *prefix* is the path that a checkpoint was saved under, `dir/ckpt_3`. It is the start of the names of
the checkpoint's files, and stands in the file as TensorFlow writes it, relative to the folder:

    model_checkpoint_path: "ckpt_3"
    all_model_checkpoint_paths: "ckpt_3"
"""

import dataclasses
import logging
import os
import re
from typing import Any

# What the names of a checkpoint's files end in: Keras's weights, and TensorFlow's own.
_ENDINGS = (".weights.h5", ".index")
_FIELD = re.compile(r'^\s*(\w+)\s*:\s*"((?:[^"\\]|\\.)*)"\s*$', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class CheckpointState:
    """What the file `checkpoint` of a folder says.

    Attributes:
        model_checkpoint_path: prefix of the latest checkpoint.
        all_model_checkpoint_paths: prefixes of all that are kept, oldest first.
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: tuple[str, ...]


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
        fields = _FIELD.findall(file.read())
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
    return CheckpointState(latest, tuple(found["all_model_checkpoint_paths"] or [latest]))


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Finds the latest checkpoint of a folder.

    Args:
        checkpoint_dir: the folder that checkpoints were saved in.
        latest_filename: name of the file that says which is the latest, if it is not `checkpoint`.

    Returns:
        The checkpoint's prefix, for `model.load_weights`; None if the folder has no checkpoint, or the
        latest one's files are gone.

    Raises:
        ValueError: the file names no checkpoint.

    Examples:
        >>> from frontends import tf
        >>> tf.train.latest_checkpoint("no/such/folder") is None
        True

    Source: `tf.train.latest_checkpoint`.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    prefix = state.model_checkpoint_path
    if any(os.path.exists(prefix + ending) for ending in _ENDINGS):
        return prefix
    logging.getLogger(__name__).error("Couldn't match files for checkpoint %s", prefix)
    return None


def update_checkpoint_state(prefix: str) -> None:
    """Says in the folder of a checkpoint that it is the latest one, and the only one that is known.

    Args:
        prefix: the path that it was saved under.
    """
    folder, name = os.path.split(prefix)
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    path = os.path.join(folder, "checkpoint")
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(f'model_checkpoint_path: "{text}"\nall_model_checkpoint_paths: "{text}"\n')
    # A process that reads at the same time finds the former file or the new one, never a part.
    os.replace(file.name, path)


def _unescaped(text: str) -> str:
    # Protocol buffers write what is no ASCII as octal bytes, or as it is.
    return text.encode().decode("unicode_escape").encode("latin-1").decode()
