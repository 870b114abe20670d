"""`tf.compat.v1.InteractiveSession`, which scripts of TensorFlow 2 make for its configuration alone."""

from typing import Any, NoReturn


class InteractiveSession:
    """Takes a configuration, and runs nothing.

    Scripts of TensorFlow 2 make one so that TensorFlow does not take all of a GPU's memory. JAX has
    XLA_PYTHON_CLIENT_PREALLOCATE=false for that.

    Source: `tf.compat.v1.InteractiveSession`.
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        """Makes one; without effect.

        Args:
            target: of no use here.
            graph: of no use here.
            config: a `ConfigProto`, of no use here.
        """

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> NoReturn:
        """Refuses to run.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "InteractiveSession.run: there are no graphs to run here. Call a function where session.run runs a part of the graph; "
            "@tf.function compiles it."
        )

    def close(self) -> None:
        """Ends the session; without effect."""
