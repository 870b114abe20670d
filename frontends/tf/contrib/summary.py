"""`tf.contrib.summary`: summaries with a step, as `tf.summary` of TensorFlow 2 has them."""

import contextlib
from typing import Any

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.summary import all_v2_summary_ops
from frontends.tf.summary.writer import record_if


def always_record_summaries() -> contextlib.AbstractContextManager[Any]:
    """Writes summaries in the block, unless there is no writer.

    Source: `tf.contrib.summary.always_record_summaries`.
    """
    return record_if(True)


def never_record_summaries() -> contextlib.AbstractContextManager[Any]:
    """Has no summaries be written in the block.

    Source: `tf.contrib.summary.never_record_summaries`.
    """
    return record_if(False)


def record_summaries_every_n_global_steps(
    n: int, global_step: VariableLike | None = None
) -> contextlib.AbstractContextManager[Any]:
    """Writes summaries in the block when the global step is a multiple of a number.

    Args:
        n: the number.
        global_step: None takes that of the model function.

    Source: `tf.contrib.summary.record_summaries_every_n_global_steps`.
    """
    from frontends.tf.compat.v1.train.steps import get_or_create_global_step

    step = get_or_create_global_step() if global_step is None else global_step
    return record_if(lambda: step % n == 0)


__getattr__, __dir__ = attributes(
    "tf.contrib.summary",
    {**defined_in(__name__), "all_summary_ops": all_v2_summary_ops},
    rest="frontends.tf.summary",
)
