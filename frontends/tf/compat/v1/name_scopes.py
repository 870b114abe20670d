"""`tf.compat.v1.name_scope`: a scope with a name for callers that give none."""

from typing import Any

from frontends.tf.ops import name_scope as tensorflow_2


class name_scope(tensorflow_2.name_scope):
    """Puts a name, or a default one, before those of variables, summaries and operations that are made in the block.

    Examples:
        >>> from frontends.tf.compat import v1 as tf
        >>> with tf.name_scope(None, "crop", [tf.zeros([2])]) as scope:
        ...     scope
        'crop/'

    Source: `tf.compat.v1.name_scope`.
    """

    def __init__(
        self, name: str | None, default_name: str | None = None, values: Any = None
    ) -> None:
        """Names the scope.

        Args:
            name: as for `tf.name_scope`; None means `default_name`.
            default_name: the name if there is no other; None means the top.
            values: the tensors that the block takes, which decide nothing here.

        Raises:
            ValueError: the name is no text.
        """
        given = default_name if name is None else name
        super().__init__("" if given is None else given)
