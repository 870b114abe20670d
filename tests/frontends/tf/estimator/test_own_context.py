"""Generators with context variables of their own."""

import contextvars

from frontends.tf.estimator.own_context import in_own_context
from spmd.assigned import assigned

_VARIABLE = contextvars.ContextVar("variable", default=0)


def test_what_a_generator_sets_is_set_there_alone():
    ends = []

    def numbers():
        try:
            with assigned(_VARIABLE, 1):
                while True:
                    yield _VARIABLE.get()
        finally:
            ends.append(_VARIABLE.get())

    found = in_own_context(numbers())
    with assigned(_VARIABLE, 2):
        assert [next(found), _VARIABLE.get(), next(found)] == [1, 2, 1]
    # It began where nothing else was in force, and ends there.
    found.close()
    assert ends == [2]
    assert list(in_own_context(iter_of(3))) == [0, 1, 2]


def iter_of(count):
    yield from range(count)
