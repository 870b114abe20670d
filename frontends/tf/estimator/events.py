"""Event files of an estimator: one for each of its folders, which TensorBoard reads."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from frontends.tf.compat.v1 import logging
from spmd.typing import StrPath

_warned: set[str] = set()


def event_writer(folder: StrPath) -> Any:
    """Returns the `tf.compat.v1.summary.FileWriter` of a folder; None, with a warning, where TensorBoard is not installed."""
    from frontends.tf.compat.v1 import summary  # imports what writes files

    try:
        return summary.FileWriterCache.get(folder)
    except ImportError as error:
        if not _warned:
            _warned.add("tensorboard")
            logging.warning(f"Nothing is written for TensorBoard: {error}")
        return None


def write_values(writer: Any, values: Mapping[str, Any], step: int) -> None:
    """Writes numbers, as TensorBoard shows them, and arrays and texts, which it keeps.

    Args:
        writer: what `event_writer` gave; None writes nothing.
        values: by tag.
        step: of all values.
    """
    if writer is None:
        return
    from tensorboard.util import tensor_util

    from frontends.tf.compat.v1 import summary

    made = summary.Summary()
    for tag, value in values.items():
        if isinstance(value, str):
            made.value.add(tag=tag, tensor=tensor_util.make_tensor_proto(value))
        elif np.ndim(value) == 0:
            made.value.add(tag=tag, simple_value=float(value))
        else:
            tensor = tensor_util.make_tensor_proto(np.asarray(value))
            made.value.add(tag=tag, node_name=tag, tensor=tensor)
    writer.add_summary(made, step)
