"""Hue, saturation and value of colours, computed by one of the libraries.

Each is computed as an image of its own: NumPy takes long for the few channels of a pixel, and for entries that are apart.
"""

from typing import Any

import numpy as np


def to_hsv(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    """Converts colours, floats from 0 to 1, to hue, saturation and value, which have no channels."""
    red, green, blue = (_plane(xp, x, channel) for channel in range(3))
    value = xp.maximum(xp.maximum(red, green), blue)
    spread = value - xp.minimum(xp.minimum(red, green), blue)
    # Divisors are replaced where they are zero, so that gradients are defined as well.
    saturation = xp.where(value > 0, spread / xp.where(value > 0, value, 1), 0)
    scale = 1 / (6 * xp.where(spread > 0, spread, 1))
    hue = xp.where(
        red == value,
        scale * (green - blue),
        xp.where(
            green == value, scale * (blue - red) + 2.0 / 6.0, scale * (red - green) + 4.0 / 6.0
        ),
    )
    hue = xp.where(spread > 0, hue, 0)
    hue = xp.where(hue < 0, hue + 1, hue)
    return hue.astype(x.dtype), saturation.astype(x.dtype), value


def from_hsv(xp: Any, hue: Any, saturation: Any, value: Any) -> Any:
    """Converts hue, saturation and value, which have no channels, back to colours."""
    turned = hue * 6
    rest = 1 - saturation
    colours = [
        (rest + saturation * xp.clip(pure, 0, 1)) * value
        for pure in (xp.abs(turned - 3) - 1, 2 - xp.abs(turned - 2), 2 - xp.abs(turned - 4))
    ]
    return xp.stack(colours, -1).astype(value.dtype)


def _plane(xp: Any, x: Any, channel: int) -> Any:
    plane = x[..., channel]
    return np.ascontiguousarray(plane) if xp is np else plane
