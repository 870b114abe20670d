"""Exporters: what `train_and_evaluate` exports after evaluations."""

import abc
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from frontends.tf.compat.v1 import logging
from frontends.tf.compat.v1.train.summary_iterator import summary_iterator
from spmd import export
from spmd.files import StorePath, path_of
from spmd.typing import StrPath

_LOSS = "loss"
_COMPARED = ("best_eval_result", "current_eval_result")

Metrics = Mapping[str, Any]


class Exporter(abc.ABC):
    """Exports an estimator; a base to override.

    Source: `tf.estimator.Exporter`.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The folder, below that of all exports."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> Any:
        """Exports the model, or decides not to.

        Args:
            estimator: what was trained.
            export_path: the folder for exports of this name.
            checkpoint_path: what was evaluated.
            eval_result: what the evaluation gave.
            is_the_final_export: whether training has reached its `max_steps`.

        Returns:
            The path of the export; None without one.
        """


class _SavedModelExporter(Exporter):
    """Exports each time that it is asked."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, StrPath] | None,
        exports_to_keep: int | None = None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be positive number. Got {exports_to_keep}"
            )
        self._name, self._receive, self._assets = name, serving_input_receiver_fn, assets_extra
        self._keep = exports_to_keep

    @property
    def name(self) -> str:
        """See `Exporter.name`."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> Any:
        """See `Exporter.export`."""
        if not self._is_wanted(estimator, eval_result, is_the_final_export):
            return None
        path = estimator.export_saved_model(
            export_path,
            self._receive,
            assets_extra=self._assets,
            checkpoint_path=checkpoint_path,
        )
        if self._keep is not None:
            _delete_older(path_of(export_path), self._keep)
        return path

    @abc.abstractmethod
    def _is_wanted(self, estimator: Any, eval_result: Metrics, is_final: bool) -> bool:
        """Decides whether to export."""


class LatestExporter(_SavedModelExporter):
    """Exports each model that was evaluated, and keeps the latest.

    Source: `tf.estimator.LatestExporter`.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, StrPath] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """Describes the exports.

        Args:
            name: of the folder.
            serving_input_receiver_fn: see `Estimator.export_saved_model`.
            assets_extra: likewise.
            as_text: accepted, and not used.
            exports_to_keep: how many stay; None keeps all.

        Raises:
            ValueError: `exports_to_keep` is not positive.
        """
        super().__init__(name, serving_input_receiver_fn, assets_extra, exports_to_keep)

    def _is_wanted(self, estimator: Any, eval_result: Metrics, is_final: bool) -> bool:
        return True


class FinalExporter(_SavedModelExporter):
    """Exports the model when training has reached its `max_steps`.

    Source: `tf.estimator.FinalExporter`.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, StrPath] | None = None,
        as_text: bool = False,
    ) -> None:
        """Describes the export; see `LatestExporter`.

        Args:
            name: of the folder.
            serving_input_receiver_fn: see `Estimator.export_saved_model`.
            assets_extra: likewise.
            as_text: accepted, and not used.
        """
        super().__init__(name, serving_input_receiver_fn, assets_extra)

    def _is_wanted(self, estimator: Any, eval_result: Metrics, is_final: bool) -> bool:
        if is_final:
            logging.info("Performing the final export in the end of training.")
        return is_final


def _loss_smaller(best_eval_result: Metrics, current_eval_result: Metrics) -> bool:
    """Tells whether the loss is smaller than the best one."""
    for name, metrics in zip(_COMPARED, (best_eval_result, current_eval_result), strict=True):
        if not metrics or _LOSS not in metrics:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return bool(best_eval_result[_LOSS] > current_eval_result[_LOSS])


class BestExporter(_SavedModelExporter):
    """Exports a model that is better than those before it; the first one in any case.

    Source: `tf.estimator.BestExporter`.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: Mapping[str, StrPath] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """Describes the exports; see `LatestExporter`.

        Args:
            name: of the folder.
            serving_input_receiver_fn: see `Estimator.export_saved_model`.
            event_file_pattern: files, below the estimator's folder, in which a job that starts again finds earlier
                evaluations; None looks for none.
            compare_fn: of `best_eval_result` and `current_eval_result`: whether the second is better.
            assets_extra: see `Estimator.export_saved_model`.
            as_text: accepted, and not used.
            exports_to_keep: how many stay; None keeps all.

        Raises:
            ValueError: `exports_to_keep` is not positive, or `compare_fn` takes something else.
        """
        super().__init__(name, serving_input_receiver_fn, assets_extra, exports_to_keep)
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        parameters = inspect.signature(compare_fn).parameters
        if set(parameters) != set(_COMPARED):
            raise ValueError(
                f"compare_fn ({compare_fn}) must take the arguments {' and '.join(_COMPARED)}, but takes {list(parameters)}."
            )
        self._compare, self._pattern = compare_fn, event_file_pattern
        self._folder: str | None = None
        self._best: Metrics | None = None
        self._has_exported = False

    def _is_wanted(self, estimator: Any, eval_result: Metrics, is_final: bool) -> bool:
        if self._pattern and self._folder != estimator.model_dir:
            logging.info("Loading best metric from event files.")
            self._folder = estimator.model_dir
            self._best = self._best_of_files(path_of(estimator.model_dir), self._pattern)
        is_best = (
            self._best is None
            or not self._has_exported
            or self._compare(best_eval_result=self._best, current_eval_result=eval_result)
        )
        if is_best:
            logging.info("Performing best model export.")
            self._best, self._has_exported = eval_result, True
        return is_best

    def _best_of_files(self, folder: Path | StorePath, pattern: str) -> Metrics | None:
        best: Metrics | None = None
        for file in sorted(folder.glob(pattern)):
            for event in summary_iterator(file):
                found = {
                    value.tag: value.simple_value
                    for value in event.summary.value
                    if value.HasField("simple_value")
                }
                if found and (
                    best is None or self._compare(best_eval_result=best, current_eval_result=found)
                ):
                    best = found
        return best


def _delete_older(folder: Path | StorePath, keep: int) -> None:
    """Deletes all exports but the latest; other folders stay."""
    names = [entry.name for entry in folder.iterdir()]
    exports = [one for one in names if len(one) == 10 and one.isdigit()]
    if isinstance(folder, StorePath):  # where one that was stopped has its final name
        exports = [one for one in exports if export.is_artifact(folder / one)]
    for name in sorted(exports)[:-keep]:
        try:
            export.remove(folder / name)
        except FileNotFoundError as error:
            logging.warning(f"Can not delete {folder / name} recursively: {error}")
