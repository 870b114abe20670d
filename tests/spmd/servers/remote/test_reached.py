"""How errors name what a closure reaches."""

import functools

import pytest

pytest.importorskip("ray")

from spmd.servers.remote.reached import path_to

_WANTED = object()
_NAMES = {"log": [_WANTED]}


class _Model:
    def __init__(self):
        self.reader = _WANTED

    def step(self):
        return self.reader


def _by_a_global_name():
    return _NAMES


def _by_a_cell():
    model = _Model()
    return lambda: model


@pytest.mark.parametrize(
    ("closure", "found"),
    [
        (_by_a_global_name, ("_by_a_global_name", "_NAMES['log'][0]")),
        (_by_a_cell(), ("<lambda>", "model.reader")),
        (_Model().step, ("", "self.reader")),
        (
            functools.partial(print, functools.partial(_by_a_global_name)),
            ("_by_a_global_name", "_NAMES['log'][0]"),
        ),
        (functools.partial(print, [_WANTED]), ("", "args[0][0]")),
        (functools.partial(print, sep=_WANTED), ("", "sep")),
        (len, None),
    ],
)
def test_the_way_to_an_object_is_named_as_code_names_it(closure, found):
    assert path_to(_WANTED, closure) == found
