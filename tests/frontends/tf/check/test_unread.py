"""Parameters that are never read."""

import functools

from frontends import tf
from frontends.tf.check.unread import unread_parameters


def test_parameters_that_a_function_never_reads():
    assert unread_parameters(tf.Variable.assign_add) == ("use_locking", "read_value")
    assert unread_parameters(tf.data.Dataset.map) == ("deterministic",)


def test_names_and_receivers_do_not_count():
    def function(self, name, used, *rest, unused=1, **others):
        return used, rest

    assert unread_parameters(function) == ("unused", "others")


def test_what_is_wrapped_is_looked_at():
    def function(a, b):
        return a

    wrapped = functools.wraps(function)(lambda *args: function(*args))
    assert unread_parameters(wrapped) == ("b",)


def test_nothing_is_known_of_what_has_no_source():
    assert unread_parameters(len) == ()
    assert unread_parameters(lambda unused: 1) == ()
