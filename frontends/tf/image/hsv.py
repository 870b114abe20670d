"""Hue, saturation and value of colours, computed by one of the libraries."""

from typing import Any


def to_hsv(xp: Any, x: Any) -> Any:
    """Converts colours, floats from 0 to 1, to hue, saturation and value."""
    red, green, blue = x[..., 0], x[..., 1], x[..., 2]
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
    return xp.stack([hue, saturation, value], -1).astype(x.dtype)


def from_hsv(xp: Any, x: Any) -> Any:
    """Converts hue, saturation and value back to colours."""
    hue, saturation, value = x[..., 0:1] * 6, x[..., 1:2], x[..., 2:3]
    pure = xp.concatenate([xp.abs(hue - 3) - 1, 2 - xp.abs(hue - 2), 2 - xp.abs(hue - 4)], -1)
    pure = xp.clip(pure, 0, 1)
    return ((1 - saturation + saturation * pure) * value).astype(x.dtype)
