"""Who has values for variables that are made later is asked once for each new set of them."""

import pytest

from spmd.state import deferred


@pytest.fixture
def asked():
    calls = []
    deferred.defer(1, lambda: calls.append(1))
    yield calls
    deferred.drop_deferred(1)


def test_nobody_is_asked_while_there_are_no_new_variables(asked):
    deferred.note_variable_made()
    deferred.apply_pending()
    deferred.apply_pending()
    assert asked == [1]


def test_nobody_is_asked_after_it_was_taken_out(asked):
    deferred.drop_deferred(1)
    deferred.note_variable_made()
    deferred.apply_pending()
    assert asked == []
