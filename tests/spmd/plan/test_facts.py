"""The compiler's figures as data."""

from spmd.plan import Memory


def test_what_lies_where_an_argument_lay_counts_once() -> None:
    memory = Memory(arguments=100, outputs=80, aliased=70, temporaries=30, code=5)
    assert memory.total == 100 + (80 - 70) + 30 + 5
