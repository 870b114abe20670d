"""Reading a checkpoint without the objects: `tf.train.list_variables`, `tf.train.load_checkpoint`."""

import os
import re
from typing import Any

from frontends.tf.dtypes import DType, as_dtype
from frontends.tf.train._explanation import explained
from frontends.tf.train.checkpoint_state import latest_checkpoint
from frontends.tf.train.tensor_bundle import TensorBundle, is_bundle
from spmd.checkpoint import CheckpointNotFoundError, is_checkpoint, list_arrays, read_array
from spmd.files import path_of, plain
from spmd.typing import StrPath

# TensorFlow's names of variables' values end in it.
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
# Where the checkpoints of estimators have their variables, one of which is this.
_MODEL, _STEP = "model/", "global_step"


class CheckpointReader:
    """Reads values of a checkpoint by name; in one of an estimator, names are those of its variables, as in TensorFlow.

    Checkpoints that TensorFlow wrote are read, too.

    Source: `tf.train.load_checkpoint`.
    """

    def __init__(self, path: str) -> None:
        """Lists the values, and reads none."""
        self._path = path
        self._bundle = TensorBundle(path) if is_bundle(path) else None
        if self._bundle is not None:
            self._entries: dict[str, Any] = dict(self._bundle.entries)
            return
        with explained(path):
            entries = {entry.name: entry for entry in list_arrays(path)}
        model = {name.removeprefix(_MODEL) for name in entries if name.startswith(_MODEL)}
        if _STEP in model and not any("/" in name for name in model):
            self._entries = {_plain(name): entries[_MODEL + name] for name in model}
        else:
            self._entries = {name + _VALUE: entry for name, entry in entries.items()}

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Returns the shape of each value, by name."""
        return {name: list(entry.shape) for name, entry in self._entries.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Returns the dtype of each value, by name."""
        return {name: as_dtype(entry.dtype) for name, entry in self._entries.items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Tells whether there is a value with this name."""
        return tensor_str in self._entries

    def get_tensor(self, tensor_str: str) -> Any:
        """Reads a value as a NumPy array or scalar; all processes must call it.

        Raises:
            ValueError: there is no such value.
        """
        if tensor_str not in self._entries:
            raise ValueError(
                f"Key {tensor_str} not found in checkpoint {self._path}. It has: {', '.join(sorted(self._entries))}."
            )
        entry = self._entries[tensor_str]
        if self._bundle is not None:
            return self._bundle.read(entry)[()]
        return read_array(self._path, entry)[()]


def _plain(name: str) -> str:
    """Undoes how a checkpoint writes a name with slashes as one part of a path."""
    return re.sub(r"\.([.S])", lambda found: "/" if found[1] == "S" else ".", name)


def NewCheckpointReader(filepattern: StrPath) -> CheckpointReader:
    """Opens a checkpoint to read values by name; see `load_checkpoint`.

    Raises:
        FileNotFoundError: there is no checkpoint.

    Source: `tf.compat.v1.train.NewCheckpointReader`.
    """
    return CheckpointReader(os.fspath(filepattern))


def load_checkpoint(ckpt_dir_or_file: StrPath) -> CheckpointReader:
    """Opens a checkpoint to read values by name.

    Args:
        ckpt_dir_or_file: what `save` returned, or a folder, for its latest checkpoint.

    Raises:
        FileNotFoundError: there is no checkpoint.

    Examples:
        >>> import tempfile
        >>> from frontends import tf
        >>> path = tf.train.Checkpoint(v=tf.Variable(2.0)).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
        np.float32(2.0)

    Source: `tf.train.load_checkpoint`.
    """
    path = plain(ckpt_dir_or_file)
    if path_of(path).is_dir() and not is_checkpoint(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise CheckpointNotFoundError(
                f"There is no checkpoint in {path}: its file 'checkpoint' names none. Pass what save() returned."
            )
        path = latest
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: StrPath) -> list[tuple[str, list[int]]]:
    """Lists the names and shapes of the values of a checkpoint, sorted.

    Raises:
        FileNotFoundError: there is no checkpoint.

    Source: `tf.train.list_variables`.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: StrPath, name: str) -> Any:
    """Reads one value as a NumPy array or scalar; all processes must call it.

    Raises:
        FileNotFoundError: there is no checkpoint.
        ValueError: there is no such value.

    Source: `tf.train.load_variable`.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
