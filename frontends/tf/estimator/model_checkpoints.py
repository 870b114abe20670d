"""Checkpoints of an estimator: variables by name, in its folder."""

import functools
from collections.abc import Mapping
from typing import Any

from frontends.tf.graph import VariableStore
from frontends.tf.train.checkpoint import Checkpoint
from frontends.tf.train.checkpoint_manager import CheckpointManager
from frontends.tf.train.checkpoint_reader import CheckpointReader
from frontends.tf.train.checkpoint_state import get_checkpoint_state, latest_checkpoint
from spmd.checkpoint import View, register_view
from spmd.typing import StrPath

_BASENAME = "model.ckpt"


class ModelCheckpoints:
    """Saves and restores a store."""

    def __init__(self, store: VariableStore, folder: str, config: Any) -> None:
        """Opens a folder.

        Args:
            store: what is saved.
            folder: of the estimator.
            config: its `RunConfig`.
        """
        self.folder = folder
        self._checkpoint = Checkpoint(model=store)
        self._manager = CheckpointManager(
            self._checkpoint,
            folder,
            max_to_keep=config.keep_checkpoint_max or None,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            checkpoint_name=_BASENAME,
        )

    def save(self, step: int) -> str:
        """Saves under a step's number; returns the path."""
        return str(self._manager.save(checkpoint_number=step))

    def restore(self, path: str) -> None:
        """Restores what there is; what the checkpoint has besides is left."""
        self._checkpoint.restore(path).expect_partial()


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
    state = get_checkpoint_state(folder)  # finding the latest one reads all of it
    named = None if state is None else state.model_checkpoint_path
    return step_of(named) >= last_step and step_of(latest(folder)) >= last_step


def _view_of_store(store: VariableStore) -> View:
    return View(store, "node", {**store.saved(), **store.objects}, grows=True)


register_view(VariableStore, _view_of_store)
