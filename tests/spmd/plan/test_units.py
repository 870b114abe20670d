"""Numbers with their units."""

import pytest

from spmd.plan.units import format_bytes, format_count, format_rate, format_seconds, format_share


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format_bytes(0), "0 B"),
        (format_bytes(999), "999 B"),
        (format_bytes(1000), "0.977 KiB"),
        (format_bytes(1024), "1.00 KiB"),
        (format_bytes(1023 * 1024**2), "0.999 GiB"),
        (format_bytes(95 * 2**30), "95.0 GiB"),
        (format_bytes(3 * 2**50), "3072 TiB"),
        (format_count(999.6), "1.00 k"),
        (format_count(0), "0"),
        (format_count(1.5e13, "FLOP"), "15.0 TFLOP"),
        (format_rate(3.125e9, "B"), "3.12 GB/s"),
        (format_seconds(0), "0 ns"),
        (format_seconds(9.999e-4), "1.00 ms"),
        (format_seconds(5e-10), "0.500 ns"),
        (format_seconds(123.4), "123 s"),
        (format_share(1.0), "100%"),
        (format_share(0.0996), "10%"),
        (format_share(0.051), "5.1%"),
    ],
)
def test_three_digits(text, expected) -> None:
    assert text == expected
