"""How texts are taken apart at a separator."""

from collections.abc import Callable

from frontends.tf._typing import TensorLike
from frontends.tf.data.host_arrays import (
    single_text,
)


def splitter(sep: TensorLike, maxsplit: int) -> Callable[[bytes], list[bytes]]:
    """Makes the function that splits a text; see `split`.

    Raises:
        ValueError: `sep` is not a single text.
    """
    separator = b"" if sep is None else single_text(sep, "tf.strings.split: sep")
    if maxsplit == 0:
        return lambda text: [text]
    most = max(maxsplit, -1)
    return (
        (lambda text: text.split(separator, most)) if separator else lambda text: _words(text, most)
    )


def _words(text: bytes, most: int) -> list[bytes]:
    """Splits a text at spaces; what is left after the last split is a part, even if it is empty."""
    words = text.split(None, most)
    if most > 0 and len(words) == most:
        words.append(b"")
    return words
