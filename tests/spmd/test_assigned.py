"""A context variable has a value for a block, and then its former one."""

import contextvars

import pytest

from spmd.assigned import assigned


def test_a_value_lasts_for_the_block_even_if_it_fails() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    with assigned(variable, 1) as given:
        assert (given, variable.get()) == (1, 1)
        with pytest.raises(KeyError), assigned(variable, 2):
            raise KeyError
        assert variable.get() == 1
    assert variable.get() == 0
