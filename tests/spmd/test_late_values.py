"""Who has values for variables that are made later is asked once for each new set of them."""

import pytest

from spmd import late_values


@pytest.fixture
def asked():
    calls = []
    late_values.add_waiting(1, lambda: calls.append(1))
    yield calls
    late_values.remove_waiting(1)


def test_nobody_is_asked_while_there_are_no_new_variables(asked):
    late_values.note_variable()
    late_values.settle()
    late_values.settle()
    assert asked == [1]


def test_nobody_is_asked_after_it_was_taken_out(asked):
    late_values.remove_waiting(1)
    late_values.note_variable()
    late_values.settle()
    assert asked == []
