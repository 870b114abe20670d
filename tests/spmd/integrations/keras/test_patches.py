"""Every row of the engine's table of changes to Keras, and how rows are applied."""

import importlib
import re

import keras
import pytest

from spmd.integrations.keras import Patch, applied_patches, patch_keras, patches
from tests.spmd.integrations.keras.rows import check_row

patch_keras()


@pytest.mark.parametrize("applied", applied_patches(), ids=lambda applied: applied.patch.name)
def test_keras_is_as_a_row_assumes_and_the_row_is_in_place(applied):
    check_row(applied)


def test_keras_is_changed_once():
    before = keras.losses.Loss.__call__, keras.Variable.assign, applied_patches()
    patch_keras()
    importlib.reload(patches).patch_keras()
    assert (keras.losses.Loss.__call__, keras.Variable.assign, applied_patches()) == before


class Owner:
    def first(self):
        return 1

    def second(self):
        return 1


class Derived(Owner):
    pass


@pytest.fixture
def owner(monkeypatch):
    """A class of its own for each test, and the table as it was before."""
    monkeypatch.setattr(keras, "_spmd_patches", list(applied_patches()))
    return type("Owner", (Owner,), dict(vars(Owner)))


def doubled(method):
    return lambda self: 2 * method(self)


def test_rows_wrap_what_rows_before_them_made(owner):
    derived = type("Derived", (owner,), {})
    patch_keras(
        [
            Patch.wrap(owner, "first", doubled, "twice"),
            Patch.wrap(owner, "first", doubled, "and again"),
            Patch.wrap(derived, "first", doubled, "in a derived class"),
            Patch.replace(owner, "second", lambda self: 5, "five"),
            Patch.add(owner, "third", lambda self: 6, "new"),
        ]
    )
    assert [owner().first(), derived().first(), owner().second(), owner().third()] == [4, 8, 5, 6]


def test_errors_of_wrong_calls_name_what_was_called(owner):
    def around(own, /, self, first, **kwargs):
        return own(self, first, **kwargs)

    def save(self, first, *, own=None, **others):
        if others:
            raise TypeError("inside")
        return first, own

    owner.save, name = save, save.__qualname__
    for why in ("once", "twice"):
        patch_keras([Patch.around(owner, "save", around, why)])
    assert owner().save(1, own=2) == (1, 2), "a name of ours is free for the caller"
    for args, kwargs, message in (
        ((), {}, f"{name}() missing a required argument: 'first'"),
        ((1, 2), {}, f"{name}() too many positional arguments"),
        ((1,), {"other": 3}, "inside"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            owner().save(*args, **kwargs)


def test_a_row_names_the_parameters_of_a_function_after_its_first():
    patch = Patch.around(Owner, "first", lambda own, /, self, x, *args, y=None: None, "so")
    assert patch.takes == ("self", "x")


def test_a_row_is_applied_once(owner):
    for _ in range(2):
        patch_keras([Patch.wrap(owner, "first", doubled, "twice")])
    assert owner().first() == 2


@pytest.mark.parametrize("make", [Patch.wrap, Patch.replace])
def test_rows_are_applied_all_or_none(owner, make):
    rows = [Patch.wrap(owner, "first", doubled, "twice"), make(owner, "third", doubled, "it is so")]
    with pytest.raises(
        AttributeError,
        match=rf"Keras {keras.__version__} has no Owner.third, which jaxtribute changes because it is so\. "
        "Expected: Keras 3.15, .*pip install 'keras~=3.15.0'",
    ):
        patch_keras(rows)
    assert owner().first() == 1
    patch_keras(rows[:1])
    assert owner().first() == 2


@pytest.mark.parametrize(
    ("versions", "applies"),
    [
        (("3.15", None), True),
        (("3.15", "4.0"), True),
        (("3.14", "3.15"), False),
        (("3.16", None), False),
    ],
)
def test_a_row_is_for_a_range_of_versions(versions, applies):
    patch = Patch(Owner, "first", "wrap", doubled, "twice", versions=versions)
    assert patch.applies_to("3.15.1") is applies


def test_a_row_for_other_versions_is_left_out(owner):
    patch_keras([Patch(owner, "third", "wrap", doubled, "twice", versions=("99.0", None))])
    assert not hasattr(owner, "third")


IMPORTS = """
import keras, threading
before = keras.Variable.assign, keras.Model.fit, keras.losses.Loss.__call__
import spmd.integrations.keras as room
assert (keras.Variable.assign, keras.Model.fit, keras.losses.Loss.__call__) == before
assert not room.applied_patches()
threads = [threading.Thread(target=room.patch_keras) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
names = [(a.patch.owner, a.patch.attribute, a.patch.why) for a in room.applied_patches()]
assert len(names) == len(set(names)) > 15
print(keras.losses.Loss.__call__.__wrapped__.__wrapped__ is before[2])
"""


def test_importing_changes_nothing_and_threads_may_patch_together(run_python):
    # -B: one that starts with its imports made has a Keras that was changed.
    done = run_python("-B", "-c", IMPORTS, environment={"KERAS_BACKEND": "jax"})
    assert done.stdout == "True\n"
