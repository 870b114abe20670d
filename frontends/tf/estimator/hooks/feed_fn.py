"""The hook that would feed placeholders."""

from collections.abc import Callable
from typing import Any, Never

from frontends.tf.estimator.hooks.session_run_hook import SessionRunContext, SessionRunHook


class FeedFnHook(SessionRunHook):
    """Refuses to feed: there are no placeholders in a model function.

    Source: `tf.compat.v1.train.FeedFnHook`.
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        """Takes what gives the values."""
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> Never:
        """See `SessionRunHook.before_run`.

        Raises:
            NotImplementedError: always; it says what to write.
        """
        raise NotImplementedError(
            "FeedFnHook feeds placeholders, of which a model function has none. Return the values from input_fn, as features: "
            'tf.data.Dataset.from_generator(values, ...), and take them there: features["x"].'
        )
