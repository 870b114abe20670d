"""Texts in parts: `tf.strings.split`."""

from typing import Any

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.strings.mapping import in_parts
from frontends.tf.strings.separators import splitter


def split(
    input: HostLike, sep: TensorLike = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """Splits texts at a separator.

    Args:
        input: texts.
        sep: the separator; None or the empty text means spaces, of which several count as one.
        maxsplit: how often to split at most; -1 for no limit.

    Returns:
        A vector of the parts of a single text; else a `tf.RaggedTensor`.

    Examples:
        >>> from frontends import tf
        >>> tf.strings.split(["a b", "c"]).to_list()
        [[b'a', b'b'], [b'c']]

    Source: `tf.strings.split`.
    """
    return in_parts(splitter(sep, maxsplit), input, "tf.strings.split: input")
