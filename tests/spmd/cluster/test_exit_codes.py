"""What the environment says of the attempt."""

import pytest

from spmd.cluster.exit_codes import restarts_in


@pytest.mark.parametrize(
    ("text", "restarts"),
    [
        ("", 0),
        ("0", 0),
        ("12", 12),
        ("x", 0),
        ("-1", 0),
        ("\u0661", 0),
        ("9" * 5000, 0),
        ("1.5", 0),
    ],
)
def test_restarts(text: str, restarts: int) -> None:
    assert restarts_in({"JAXTRIBUTE_RESTART": text}) == restarts


def test_none() -> None:
    assert restarts_in({}) == 0
