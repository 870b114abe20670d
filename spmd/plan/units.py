"""Numbers with their units, for people: GiB (2^30) for memory, GB/s (10^9) for rates, TFLOP/s."""

import math

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")


def format_bytes(count: float) -> str:
    """Writes an amount of memory.

    Args:
        count: in bytes.

    Examples:
        >>> format_bytes(16 * 2**30), format_bytes(1_388_592), format_bytes(12)
        ('16.0 GiB', '1.32 MiB', '12 B')
    """
    value, unit = float(count), 0
    while abs(value) >= 1000 and unit < len(_BINARY) - 1:
        value, unit = value / 1024, unit + 1
    return f"{count:.0f} B" if unit == 0 else f"{_digits(value)} {_BINARY[unit]}"


def format_rate(per_second: float, unit: str) -> str:
    """Writes a rate.

    Args:
        per_second: in units of one.
        unit: `"B"` or `"FLOP"`.

    Examples:
        >>> format_rate(819e9, "B"), format_rate(197e12, "FLOP")
        ('819 GB/s', '197 TFLOP/s')
    """
    return f"{format_count(per_second, unit)}/s"


def format_count(count: float, unit: str = "") -> str:
    """Writes a count with a decimal prefix.

    Args:
        count: in units of one.
        unit: what is counted.

    Examples:
        >>> format_count(57_504_952, "FLOP"), format_count(950), format_count(0.5)
        ('57.5 MFLOP', '950', '0.500')
    """
    value, prefix = float(count), 0
    while abs(value) >= 999.5 and prefix < len(_DECIMAL) - 1:
        value, prefix = value / 1000, prefix + 1
    return f"{_digits(value)} {_DECIMAL[prefix]}{unit}".rstrip()


def format_seconds(seconds: float) -> str:
    """Writes a time.

    Args:
        seconds: how long.

    Examples:
        >>> format_seconds(0.0123), format_seconds(1.2e-5), format_seconds(3.5)
        ('12.3 ms', '12.0 us', '3.50 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.9995 * size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds / 1e-9)} ns"


def format_share(share: float) -> str:
    """Writes a part of a whole.

    Args:
        share: 1 is all.

    Examples:
        >>> format_share(0.4567), format_share(0.00123), format_share(0.0)
        ('46%', '0.12%', '0%')
    """
    percent = 100 * share
    if percent == 0 or percent >= 9.95:
        return f"{percent:.0f}%"
    return f"{percent:.1f}%" if percent >= 0.95 else f"{percent:.2g}%"


def _digits(value: float) -> str:
    """Three of them; whole numbers of three digits or more stay whole."""
    if value == 0:
        return "0"
    # Rounded first: 0.9996 is 1.00, not 1.000.
    rounded = float(f"{value:.3g}") if abs(value) < 1000 else value
    behind = max(0, 2 - math.floor(math.log10(abs(rounded)))) if abs(rounded) >= 1 else 3
    return f"{rounded:.{behind}f}"
