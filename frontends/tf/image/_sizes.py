"""What images have to be: three axes, or a batch of them with four."""

from typing import Any


def check_rank(function: str, image: Any, least: int = 3, most: int = 4) -> None:
    """Raises ValueError unless an image has `least` to `most` axes."""
    if not least <= image.ndim <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(
            f"{function}: expected an image of shape [height, width, channels]"
            f"{'' if most == 3 else ', or a batch of them'}, with {wanted} axes; got shape {tuple(image.shape)}."
        )


def check_channels(function: str, image: Any, channels: int) -> None:
    """Raises ValueError unless an image has a number of channels."""
    if image.ndim < 1 or image.shape[-1] != channels:
        raise ValueError(
            f"{function}: expected {channels} channels in the last axis, got shape {tuple(image.shape)}."
        )
