"""What an evaluation leaves behind: a line of the log, and the metrics where TensorBoard finds them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.events import event_writer, write_values


def log_metrics(metrics: Mapping[str, Any]) -> None:
    """Logs the metrics of an evaluation, in alphabetical order."""
    shown = ", ".join(f"{key} = {_shown(value)}" for key, value in sorted(metrics.items()))
    logging.info(f"Saving dict for global step {metrics['global_step']}: {shown}")


def write_metrics(folder: str, metrics: Mapping[str, Any], path: str | None) -> None:
    """Writes the metrics of an evaluation.

    Args:
        folder: of its summaries.
        metrics: by name, `global_step` among them.
        path: of the checkpoint; None if there is none.
    """
    step = int(metrics["global_step"])
    values = {key: value for key, value in metrics.items() if key != "global_step"}
    if path is not None:
        logging.info(f"Saving 'checkpoint_path' summary for global step {step}: {path}")
        values["checkpoint_path"] = path
    writer = event_writer(folder)
    write_values(writer, values, step)
    if writer is not None:
        writer.flush()  # others read it


def _shown(value: Any) -> str:
    """Shows a metric, which may have several values, in a line of the log."""
    is_float = np.ndim(value) == 0 and np.issubdtype(np.asarray(value).dtype, np.floating)
    return str(np.float32(value) if is_float else value)
