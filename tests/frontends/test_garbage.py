"""The garbage collector leaves alone what the import of a front end has made, and nothing that a script has made."""

import gc

import pytest

from frontends._garbage import importing


@pytest.fixture
def frozen(monkeypatch):
    """The calls of `gc.freeze`, which is not called."""
    calls = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append(gc.isenabled()))
    return calls


@pytest.mark.parametrize(("before", "expected"), [(5_000, [False]), (50_001, [])])
def test_what_is_there_is_left_alone_unless_there_was_much_before(
    monkeypatch, frozen, before, expected
):
    monkeypatch.setattr(gc, "get_objects", lambda: [None] * before)
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert frozen == expected


def test_a_collector_that_is_off_stays_off(monkeypatch, frozen):
    monkeypatch.setattr(gc, "get_objects", list)
    gc.disable()
    try:
        with importing():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert frozen == []


def test_an_import_that_fails_leaves_the_collector_on(monkeypatch, frozen):
    monkeypatch.setattr(gc, "get_objects", list)
    with pytest.raises(ImportError), importing():
        raise ImportError
    assert gc.isenabled()
    assert frozen == []


@pytest.mark.slow
def test_variables_made_before_the_first_use_of_keras_are_still_found(words_of_new_python):
    script = """
import gc
count = gc.get_freeze_count()
from frontends import tf
after_import = gc.get_freeze_count()
w = tf.Variable(2.0)
tf.keras.layers
with tf.GradientTape() as tape:
    y = w * w
print(after_import > count, gc.get_freeze_count() <= after_import, len(tape.watched_variables()))
"""
    assert words_of_new_python(script) == ["True", "True", "1"]
