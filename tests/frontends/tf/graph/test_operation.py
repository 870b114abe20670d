"""Deferred changes of state."""

from frontends.tf.graph import Operation


def test_an_operation_changes_the_state_when_it_is_applied():
    changes = []
    operation = Operation("assign", lambda: changes.append(1), [2])
    assert changes == []
    operation.apply()
    assert changes == [1]
    assert repr(operation) == "<tf.Operation 'assign'>"
    assert operation.inputs == (2,)
