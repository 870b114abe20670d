"""`tf.compat`'s functions for texts, which Python 2 had in two types."""


def as_bytes(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> bytes:
    """Returns a text as bytes.

    Raises:
        TypeError: it is neither text nor bytes.

    Source: `tf.compat.as_bytes`.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}. Write str(x).")


def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    """Returns bytes as a text.

    Raises:
        TypeError: it is neither text nor bytes.

    Source: `tf.compat.as_text`.
    """
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}. Write str(x).")


as_str = as_text
