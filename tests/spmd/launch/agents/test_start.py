"""What an agent takes for the start of a worker."""

import pytest

from spmd.launch.agents.start import Start

START = Start(2, 1, ["a:1", "b:1"], "4f2c")


def test_what_is_sent_is_read() -> None:
    assert Start.read(START.message()) == START


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("attempt", -1),
        ("attempt", "0"),
        ("attempt", 10**30),
        ("task", 2),
        ("task", None),
        ("addresses", "a:1"),
        ("addresses", ["a:1", 3]),
        ("job", "a\0b"),
        ("job", "\ud800"),
        ("job", None),
    ],
)
def test_what_is_no_start(field: str, value: object) -> None:
    assert Start.read({"start": {**START.message()["start"], field: value}}) is None
    assert Start.read({"start": value}) is None
