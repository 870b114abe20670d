"""How objects are reduced for workers."""

import weakref

from spmd.servers.reducers import (
    fill,
    is_kept,
    keep_on_workers,
    plainly,
    reducer_of,
    register_reducer,
)


class _Slotted:
    __slots__ = ("__weakref__", "_own", "unset")

    def __init__(self) -> None:
        self._own = 1

    def __reduce__(self):
        raise TypeError("not this way")


class _Child(_Slotted):
    def __init__(self) -> None:
        super().__init__()
        self.more = [2]


def _copy(instance):
    make, arguments, state, _, _, setter = plainly(instance)
    made = make(*arguments)
    setter(made, state)
    return made


def test_attributes_and_slots_are_copied():
    original = _Child()
    copy = _copy(original)
    assert type(copy) is _Child
    assert (copy._own, copy.more) == (1, [2])
    assert not hasattr(copy, "unset")
    weakref.ref(copy)


def test_filling_does_not_change_the_state():
    original = _Child()
    state = plainly(original)[2]
    target = object.__new__(_Child)
    fill(target, state)
    target.more = 3
    assert original.more == [2]


def test_subclasses_follow_the_nearest_class():
    assert reducer_of(_Child) is None
    register_reducer(_Slotted, plainly)
    assert reducer_of(_Child) is plainly
    other = lambda instance: (int, ())  # noqa: E731
    register_reducer(_Child, other)
    assert reducer_of(_Child) is other
    assert reducer_of(_Slotted) is plainly


def test_classes_whose_copies_are_kept():
    class Iterating:
        pass

    class Own(Iterating):
        pass

    assert not is_kept(Own)
    keep_on_workers(Iterating)
    assert is_kept(Own)
