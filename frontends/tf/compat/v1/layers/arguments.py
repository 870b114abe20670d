"""What arguments of convolutions and pooling may be: sizes, padding, the order of the axes."""

from typing import Any

_FORMATS = {
    "channels_last": {1: "NWC", 2: "NHWC", 3: "NDHWC"},
    "channels_first": {1: "NCW", 2: "NCHW", 3: "NCDHW"},
}


def axes_of(data_format: str, rank: int) -> str:
    """Names the axes of images with so many spatial ones, a letter each.

    Raises:
        ValueError: `data_format` is none.

    Examples:
        >>> axes_of("channels_first", 2)
        'NCHW'
    """
    if str(data_format).lower() not in _FORMATS:
        raise ValueError(
            f"The `data_format` argument must be one of 'channels_first', 'channels_last'. Received: {data_format}. Write "
            "data_format='channels_last'."
        )
    return _FORMATS[data_format.lower()][rank]


def padding_of(padding: str) -> str:
    """Checks a padding.

    Raises:
        ValueError: it is none.
    """
    if str(padding).upper() not in ("SAME", "VALID"):
        raise ValueError(
            f"The `padding` argument must be one of 'valid', 'same'. Received: {padding}. Write padding='valid', and pad "
            "otherwise by tf.pad."
        )
    return padding.upper()


def sizes_of(value: Any, rank: int, name: str) -> tuple[int, ...]:
    """Reads a number for all spatial axes, or one for each.

    Raises:
        ValueError: there are more or fewer, or one is not positive.
    """
    each = (value,) * rank if isinstance(value, int) else value
    try:
        sizes = tuple(map(int, each))
    except (TypeError, ValueError):
        sizes = ()
    if len(sizes) != rank or min(sizes) < 1:
        raise ValueError(
            f"The `{name}` argument must be a positive integer, or a tuple of {rank} of them. Received: {value!r}. Write "
            f"{name}={(1,) * rank if rank > 1 else 1}."
        )
    return sizes
