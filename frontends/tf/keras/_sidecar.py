"""`tf.keras.utils.SidecarEvaluator`: a task that evaluates a model from the checkpoints that others write."""

import contextlib
import logging
from collections.abc import Sequence
from typing import Any

from frontends.tf.train.checkpoint import Checkpoint
from frontends.tf.train.checkpoint_reader import load_checkpoint
from frontends.tf.train.checkpoints_iterator import checkpoints_iterator
from spmd.files import path_of
from spmd.integrations.keras import Model
from spmd.typing import StrPath

_LOGGER = logging.getLogger("tensorflow")
_ENDING = ".weights.h5"


class SidecarEvaluator:
    """Evaluates a model each time that another process has written a checkpoint of it.

    It takes weights, as `ModelCheckpoint(..., save_weights_only=True)` writes them, and `tf.train.Checkpoint(model=model)`.

    Attributes:
        model: the model, which needs metrics, and no optimizer.
        data: what it is evaluated on.
        checkpoint_dir: where the checkpoints are.
        steps: of one evaluation; None for all of the data.
        max_evaluations: see `__init__`.
        callbacks: of the evaluations.

    Source: `tf.keras.utils.SidecarEvaluator` of Keras 2.
    """

    def __init__(
        self,
        model: Model,
        data: Any,
        checkpoint_dir: StrPath,
        steps: int | None = None,
        max_evaluations: int | None = None,
        callbacks: Sequence[Any] | None = None,
    ) -> None:
        """Makes the evaluator; `start` runs it.

        Args:
            model: a compiled model.
            data: what `evaluate` takes.
            checkpoint_dir: the folder of the checkpoints.
            steps: of one evaluation; None for all of the data.
            max_evaluations: the number at the end of the last checkpoint's name, as in `ckpt-9`, or more; None for no last
                one.
            callbacks: of the evaluations.
        """
        self.model, self.data, self.checkpoint_dir = model, data, checkpoint_dir
        self.steps, self.max_evaluations = steps, max_evaluations
        self.callbacks = [*(callbacks or ())]

    def start(self) -> None:
        """Evaluates checkpoints until the last one; blocks, and without a last one, forever.

        Raises:
            ValueError: a checkpoint's name has no number at its end, and there is a last one.

        Source: `tf.keras.utils.SidecarEvaluator.start`.
        """
        for path in checkpoints_iterator(self.checkpoint_dir):
            try:
                iterations = self._load(path)
            except FileNotFoundError as error:
                # Whoever writes checkpoints deletes former ones.
                _LOGGER.info("The checkpoint %s is gone, the next one is taken: %s", path, error)
                continue
            shown = "" if iterations is None else f", iterations {iterations}"
            _LOGGER.info("Evaluation starts: checkpoint %s%s", path, shown)
            results = self.model.evaluate(
                self.data, steps=self.steps, callbacks=self.callbacks, verbose=2, return_dict=True
            )
            found = " ".join(f"{name}={value}" for name, value in results.items())
            _LOGGER.info("Evaluation ends: checkpoint %s%s, %s", path, shown, found)
            if self.max_evaluations is not None and _number(path) >= self.max_evaluations:
                _LOGGER.info("Last checkpoint evaluated: %s", path)
                return

    def _load(self, path: str) -> int | None:
        """Loads a checkpoint; returns how many steps the optimizer had made, if the checkpoint tells."""
        if path_of(f"{path}{_ENDING}").exists():
            self.model.load_weights(path)
            return None
        Checkpoint(model=self.model).restore(path).expect_partial()
        reader = load_checkpoint(path)
        with contextlib.suppress(StopIteration):
            names = reader.get_variable_to_shape_map()
            name = next(one for one in names if one.startswith("optimizer/iter"))
            return int(reader.get_tensor(name))
        return None


def _number(path: str) -> int:
    number = path.rpartition("-")[2]
    if not number.isdecimal():
        raise ValueError(
            f"The checkpoint {path!r} has no number at its end, which max_evaluations needs. Name checkpoints "
            "'ckpt-1', 'ckpt-2', as tf.train.CheckpointManager and ModelCheckpoint('ckpt-{epoch}') do."
        )
    return int(number)
