"""Checkpoints of an estimator: variables by name, in its folder."""

import functools
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from frontends.tf.graph import VariableStore
from frontends.tf.train.checkpoint import Checkpoint
from frontends.tf.train.checkpoint_manager import CheckpointManager
from frontends.tf.train.checkpoint_reader import CheckpointReader
from frontends.tf.train.checkpoint_state import get_checkpoint_state, latest_checkpoint
from frontends.tf.train.tensor_bundle import is_bundle
from spmd.checkpoint import View, is_checkpoint, register_view, saved_at, wait_for_saves
from spmd.errors import some_of
from spmd.files import StorePath, path_of
from spmd.typing import StrPath

_BASENAME = "model.ckpt"


class ModelCheckpoints:
    """Saves and restores a store."""

    def __init__(
        self,
        store: VariableStore,
        folder: str,
        config: Any,
        saver: Any = None,
        name: str = _BASENAME,
    ) -> None:
        """Opens a folder.

        Args:
            store: what is saved.
            folder: where.
            config: the estimator's `RunConfig`.
            saver: a `tf.train.Saver`, which says how many checkpoints stay; None takes what the configuration says.
            name: what names of checkpoints begin with.
        """
        if saver is None:
            most, hours = config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours
        else:
            most, hours = saver.max_to_keep, saver.keep_checkpoint_every_n_hours
        self.folder, self._store, self._name = folder, store, name
        self._config, self._saver = config, saver
        self._checkpoint = Checkpoint(model=store)
        self._manager = CheckpointManager(
            self._checkpoint,
            folder,
            max_to_keep=most or None,
            keep_checkpoint_every_n_hours=hours,
            checkpoint_name=name,
        )

    def beside(self, folder: StrPath, name: str, saver: Any) -> "ModelCheckpoints":
        """Returns what saves the same store in another folder, under another name, or with another saver.

        Args:
            folder: where to save.
            name: what names of checkpoints begin with.
            saver: says how many checkpoints stay; None takes what is said for these.
        """
        found = os.fspath(folder)
        is_same = os.path.realpath(found) == os.path.realpath(self.folder) and name == self._name
        if is_same and saver in (None, self._saver):
            return self
        return ModelCheckpoints(self._store, found, self._config, saver or self._saver, name)

    def save(self, step: int) -> str:
        """Saves under a step's number; returns the path."""
        return str(self._manager.save(checkpoint_number=step))

    def restore(self, path: str, renamed: Mapping[str, Any] | None = None) -> None:
        """Gives variables the values of a checkpoint; what it has besides is left.

        Args:
            path: of the checkpoint.
            renamed: variables that it has under other names than their own, by these names.

        Raises:
            ValueError: it lacks a variable, or has one of another shape.
            KeyError: it lacks one of the other names.
        """
        values = values_of(path)
        apart = {id(one) for one in (renamed or {}).values()}
        wanted = {key: one for key, one in self._store.saved().items() if id(one) not in apart}
        lacking = sorted(wanted.keys() - values.keys())
        if lacking:
            wrong = f"has no {', '.join(lacking)}. It has: {', '.join(sorted(values))}."
            raise _another_model_error(path, wrong)
        shapes = CheckpointReader(path).get_variable_to_shape_map()
        others = [
            f"{key} of shape {list(shapes[key])} instead of {list(variable.shape)}"
            for key, variable in sorted(wanted.items())
            if tuple(shapes[key]) != tuple(variable.shape)
        ]
        if others:
            raise _another_model_error(path, f"has {some_of(others)}.")
        if is_bundle(path):
            for name, variable in wanted.items():
                variable.assign(np.asarray(values[name]()).astype(variable.dtype))
        else:
            self._checkpoint.restore(path).expect_partial()
        restore_by_name(renamed or {}, path)


def _another_model_error(path: str, wrong: str) -> ValueError:
    return ValueError(
        f"The checkpoint {path} {wrong} Let the model function make the variables that it made when this was saved. For another "
        "model begin a new folder, with the values that still fit: tf.estimator.Estimator(model_fn, NEW_FOLDER, "
        f"warm_start_from=tf.estimator.WarmStartSettings({path!r}, vars_to_warm_start=[...]))."
    )


def values_of(path: str) -> dict[str, Any]:
    """Returns what reads each value of a checkpoint, by the name of its variable."""
    reader = CheckpointReader(path)
    names = reader.get_variable_to_shape_map()
    return {name: functools.partial(reader.get_tensor, name) for name in names}


def restore_by_name(variables: Mapping[str, Any], path: str) -> None:
    """Gives variables what a checkpoint has under some names.

    Raises:
        KeyError: it lacks a name.
    """
    values = values_of(path) if variables else {}
    for name, variable in variables.items():
        if name not in values:
            raise KeyError(
                f"The checkpoint {path} has no variable {name!r}, from which tf.train.Saver is to restore one. It has: "
                f"{', '.join(sorted(values))}."
            )
        variable.assign(values[name]())


def latest(folder: StrPath) -> str | None:
    """Returns the path of the latest checkpoint of a folder, if there is one."""
    return latest_checkpoint(folder)


def step_of(path: str | None) -> int:
    """Returns the global step of a checkpoint of an estimator, which its path names; 0 without one."""
    number = "" if path is None else path.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def reaches(folder: StrPath, last_step: int | None) -> bool:
    """Tells whether the latest checkpoint of a folder is that of the last step, or of a later one."""
    if last_step is None:
        return False
    named = _named(folder)
    if named is not None and step_of(named) < last_step:
        return False  # without reading all of the checkpoint, as `latest` does
    return step_of(latest(folder)) >= last_step


def newest(folder: StrPath, former: tuple[str, float] | None) -> tuple[str, float] | None:
    """Returns the latest checkpoint of a folder and when it was written, unless it is a former one; None if there is none."""
    if former is not None and former == _with_time(_named(folder)):
        return None  # likewise
    found = _with_time(latest(folder))
    return None if found == former else found


def _with_time(path: str | None) -> tuple[str, float] | None:
    """Returns a checkpoint and when it was written; None if it is gone."""
    if path is None:
        return None
    try:
        written = _bundle_saved_at(path) if is_bundle(path) else saved_at(path)
    except FileNotFoundError:
        return None
    # Not every store says when.
    return (path, written) if written or is_checkpoint(path) else None


def _bundle_saved_at(path: str) -> float:
    index = path_of(f"{path}.index")
    return index.stat().mtime if isinstance(index, StorePath) else index.stat().st_mtime


def _named(folder: StrPath) -> str | None:
    """Returns the path that the file `checkpoint` names, if it does, whatever is there; waits for a save of this process."""
    wait_for_saves()
    try:
        state = get_checkpoint_state(folder)
    except ValueError:
        return None
    return None if state is None else state.model_checkpoint_path


def _view_of_store(store: VariableStore) -> View:
    return View(store, "node", store.saved(), grows=True)


register_view(VariableStore, _view_of_store)
