"""How an experiment exports what it has trained."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from frontends.tf.estimator import Estimator
from frontends.tf.estimator.exporters import LatestExporter
from spmd.typing import StrPath


@dataclasses.dataclass(frozen=True)
class ExportStrategy:
    """A function that exports, and the name of its folder in `model_dir/export`.

    Attributes:
        name: of the folder.
        export_fn: takes the estimator, the folder, and `checkpoint_path` and `eval_result` by name; returns the path of the export.

    Source: `tf.contrib.learn.ExportStrategy`.
    """

    name: str
    export_fn: Callable[..., Any]

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
    ) -> Any:
        """Exports; returns what the function returns."""
        return self.export_fn(
            estimator, export_path, checkpoint_path=checkpoint_path, eval_result=eval_result
        )


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, StrPath] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Makes the strategy `Servo`, which exports as `tf.estimator.LatestExporter` does.

    Args:
        serving_input_fn: returns a `tf.estimator.export.ServingInputReceiver` of placeholders.
        default_output_alternative_key: must be None: `export_outputs` of the model function name the default.
        assets_extra: files to copy, by their paths in the folder `assets.extra`.
        as_text: accepted, and not used.
        exports_to_keep: how many stay; None keeps all.
        strip_default_attrs: accepted, and not used.

    Raises:
        ValueError: another default is named, or `exports_to_keep` is not positive.

    Source: `tf.contrib.learn.make_export_strategy`.
    """
    if default_output_alternative_key is not None:
        raise ValueError(
            "default_output_alternative_key is not supported in core Estimator. Given: "
            f"{default_output_alternative_key}. Leave it out, and name that output 'serving_default' in export_outputs."
        )
    exporter = LatestExporter(
        "Servo", serving_input_fn, assets_extra, exports_to_keep=exports_to_keep
    )

    def export(
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
    ) -> Any:
        path = checkpoint_path or estimator.latest_checkpoint()
        if path is None:
            raise ValueError(f"Couldn't find trained model at {estimator.model_dir}. Train first.")
        return exporter.export(estimator, export_path, path, dict(eval_result or {}), True)

    return ExportStrategy(exporter.name, export)
