"""The hook that reads values after the last step."""

from typing import Any

from frontends.tf.estimator.hooks.session_run_hook import SessionRunHook


class FinalOpsHook(SessionRunHook):
    """Reads variables, values of metrics, and tensors after the last step.

    What differs here: a tensor that is computed from a batch has its value of the last step; TensorFlow takes one more batch.

    Attributes:
        final_ops_values: what was read; None before.

    Source: `tf.compat.v1.train.FinalOpsHook`.
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        """Says what to read.

        Args:
            final_ops: a variable or its name, a tensor of the model function that made the hook, or a structure of these.
            final_ops_feed_dict: must be None: there are no placeholders.
        """
        self._final_ops, self._feed = final_ops, final_ops_feed_dict
        self.final_ops_values: Any = None

    def end(self, session: Any) -> None:
        """See `SessionRunHook.end`."""
        if self._feed:
            session.run([], self._feed)
        if self._final_ops is not None:
            self.final_ops_values = session.final(self._final_ops)
