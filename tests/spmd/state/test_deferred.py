"""Who has values for variables that are made later is asked once for each new set of them."""

import pytest

from spmd.state import deferred


@pytest.fixture
def asked():
    calls = []
    deferred.add_waiting(1, lambda: calls.append(1))
    yield calls
    deferred.remove_waiting(1)


def test_nobody_is_asked_while_there_are_no_new_variables(asked):
    deferred.note_variable()
    deferred.settle()
    deferred.settle()
    assert asked == [1]


def test_nobody_is_asked_after_it_was_taken_out(asked):
    deferred.remove_waiting(1)
    deferred.note_variable()
    deferred.settle()
    assert asked == []
