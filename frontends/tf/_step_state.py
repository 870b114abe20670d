"""What every step searches for variables, besides what its function reaches: state of this front end."""

from typing import Any

from frontends.tf.ops.random_stream import STREAM

# The generator of the process, once `tf.random.get_global_generator` has made it.
GLOBAL_GENERATOR: dict[str, Any] = {}

# The step and the condition of summaries, if they may read variables.
SUMMARIES: dict[str, Any] = {}
SEARCHED: list[Any] = [STREAM, SUMMARIES, GLOBAL_GENERATOR]
