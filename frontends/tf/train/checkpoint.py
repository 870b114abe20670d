"""`tf.train.Checkpoint`, over `spmd.checkpoint.Checkpoint`."""

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from frontends.tf.module import Module
from frontends.tf.train._containers import tracked
from frontends.tf.train._explanation import explained
from frontends.tf.train.checkpoint_options import CheckpointOptions
from frontends.tf.train.checkpoint_state import update_checkpoint_state
from frontends.tf.train.experimental import PythonState
from frontends.tf.variable import Variable, VariableAggregation
from spmd.checkpoint import Checkpoint as EngineCheckpoint
from spmd.checkpoint import CheckpointError, LoadStatus, View, register_view, view_of_variable
from spmd.files import absolute, path_of
from spmd.state import Group, Searched, adapter_of
from spmd.typing import Stateful, StrPath

_COUNTER = "save_counter"


class Checkpoint(Searched):
    """Objects that are saved and restored together, each under a name.

    What differs here: it also takes Flax NNX modules, arrays, numbers and Grain's iterators; see
    `spmd.checkpoint.Checkpoint`. In a cluster every process calls `save` and `restore`, they write together, and the
    path that process 0 names is used. The others may name folders of their own, as TensorFlow's tutorials do; these
    are made, and hold no checkpoint.

    Examples:
        >>> import tempfile
        >>> from frontends import tf
        >>> step = tf.Variable(3)
        >>> checkpoint = tf.train.Checkpoint(step=step)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
        >>> path[-7:], step.assign(0).numpy()
        ('/ckpt-1', np.int32(0))
        >>> _ = checkpoint.restore(path).assert_consumed()
        >>> step.numpy()
        np.int32(3)

    Source: `tf.train.Checkpoint`.
    """

    def __init__(self, root: Stateful = None, **kwargs: Stateful) -> None:
        """Names the objects.

        Args:
            root: an object whose parts are saved under their own names, beside the others.
            kwargs: what to save and restore, by name.

        Raises:
            ValueError: one of the objects cannot be saved.
        """
        object.__setattr__(self, "_engine", EngineCheckpoint(root))
        for name, obj in sorted(kwargs.items()):
            setattr(self, name, obj)

    def __setattr__(self, name: str, value: Stateful) -> None:
        try:
            setattr(self._engine, name, tracked(value))
        except CheckpointError as error:
            raise ValueError(
                f"`Checkpoint` was expecting {name} to be a trackable object, got {value!r}. {error}"
            ) from error

    def __getattr__(self, name: str) -> Any:
        if name == "_engine":  # copy.copy asks for it before it is set
            raise AttributeError(name)
        try:
            return getattr(self._engine, name)
        except AttributeError:
            raise AttributeError(f"'Checkpoint' object has no attribute {name!r}") from None

    def __delattr__(self, name: str) -> None:
        delattr(self._engine, name)

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called: a part of each checkpoint, and its number."""
        if not hasattr(self._engine, _COUNTER):
            counter = Variable(np.int32(0), trainable=False, name=_COUNTER)
            setattr(self._engine, _COUNTER, counter)
        return getattr(self._engine, _COUNTER)

    def save(self, file_prefix: StrPath, options: CheckpointOptions | None = None) -> str:
        """Saves under the next number, and records it as the latest in the file `checkpoint`.

        All processes must call it. Blocks until the checkpoint is on disk, unless the options say otherwise.

        Args:
            file_prefix: path that the number is appended to: `"dir/ckpt"` gives the folder `dir/ckpt-1`.
            options: how to write.

        Returns:
            The path, for `restore`; that of process 0 in all processes.

        Raises:
            ValueError: an object cannot be saved.
            TimeoutError: a process does not save; the message names it.

        Source: `tf.train.Checkpoint.save`.
        """
        self.save_counter.assign_add(1)
        path = f"{os.fspath(file_prefix)}-{int(self.save_counter.numpy())}"
        saved = self.write_and(path, options, lambda: update_checkpoint_state(path))
        if saved != path:
            update_checkpoint_state(saved, folder=os.path.dirname(path))
        return saved

    def write(self, file_prefix: StrPath, options: CheckpointOptions | None = None) -> str:
        """Saves under a path as it is, without a number; otherwise as `save`.

        Returns:
            The path, for `read`; that of process 0 in all processes.

        Raises:
            ValueError: an object cannot be saved.
            TimeoutError: a process does not save; the message names it.

        Source: `tf.train.Checkpoint.write`.
        """
        return self.write_and(os.fspath(file_prefix), options, lambda: None)

    def write_and(
        self, path: str, options: CheckpointOptions | None, done: Callable[[], None]
    ) -> str:
        """Writes a checkpoint, and lets process 0 call `done` when it is complete.

        Returns:
            The path; if process 0 names another, that one, absolute.
        """
        options = options or CheckpointOptions()
        callbacks = tuple(options.experimental_write_callbacks or ())

        def tell() -> None:
            for callback in callbacks:
                callback(path) if inspect.signature(callback).parameters else callback()

        def finish() -> None:
            done()
            if options.is_async:
                tell()

        saved = self._engine.save(path, done=finish)
        if saved != absolute(path):
            # TensorFlow would have written here, and scripts delete the folder.
            path_of(os.path.dirname(absolute(path))).mkdir(parents=True, exist_ok=True)
            path = saved
        if not options.is_async:
            self.sync()
            tell()
        return path

    def sync(self) -> None:
        """Waits until the checkpoint is on disk.

        Raises:
            BaseException: what went wrong while it was written.
        """
        self._engine.wait()

    def restore(
        self, save_path: StrPath | None, options: CheckpointOptions | None = None
    ) -> LoadStatus:
        """Restores the values of all objects; all processes must call it.

        Variables that do not exist yet get their values when they are made.

        Args:
            save_path: what `save` or `tf.train.latest_checkpoint` returned; None restores nothing.

        Returns:
            A status: see `assert_consumed()`, `assert_existing_objects_matched()`, `expect_partial()`.

        Raises:
            FileNotFoundError: there is no checkpoint.
            ValueError: it is damaged, or does not match the objects; the message says where.
            TimeoutError: a process does not restore; the message names it.

        Source: `tf.train.Checkpoint.restore`.
        """
        return self.restore_found(save_path, checked=False)

    def restore_found(self, save_path: StrPath | None, *, checked: bool) -> LoadStatus:
        """Restores; `checked` if process 0 has just verified the files, as `tf.train.latest_checkpoint` does."""
        with explained(save_path):
            status = self._engine.restore(save_path, checked=checked)
        _ = self.save_counter  # made now, to get its value
        return status

    def read(
        self, save_path: StrPath | None, options: CheckpointOptions | None = None
    ) -> LoadStatus:
        """Restores what `write` wrote; otherwise as `restore`.

        Raises:
            FileNotFoundError: there is no checkpoint.
            ValueError: it is damaged, or does not match the objects; the message says where.

        Source: `tf.train.Checkpoint.read`.
        """
        with explained(save_path):
            return self._engine.restore(save_path)

    def view(self) -> View:
        """Returns what a checkpoint that contains this one sees of it."""
        return self._engine.view()


def _view_of_variable(variable: Variable) -> View:
    if variable.kind != "local" or variable.aggregation is VariableAggregation.NONE:
        adapter = adapter_of(variable)
        assert adapter is not None
        return view_of_variable(variable, adapter)
    # One value, as in TensorFlow, which restores into any number of replicas.
    return View(variable, "arrays", read=variable.value, write=variable.assign)


def _view_of_module(module: Module) -> View:
    parts = {name: _stateful(value) for name, value in vars(module).items()}
    # What it makes at its first call is restored then.
    return View(
        module, "node", {n: part for n, part in parts.items() if part is not None}, grows=True
    )


def _stateful(value: Stateful) -> Any:
    """The part of a module's attribute that belongs in a checkpoint; None if nothing does."""
    if isinstance(value, (list, tuple, Mapping)):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        parts = Group(
            {str(key): part for key, item in items if (part := _stateful(item)) is not None}
        )
        return parts or None
    return (
        value if isinstance(value, (Module, Checkpoint, PythonState)) or adapter_of(value) else None
    )


register_view(Checkpoint, Checkpoint.view)
register_view(Module, _view_of_module)
register_view(Variable, _view_of_variable)
