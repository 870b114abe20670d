"""Python's garbage collector leaves alone what the import of a large library has made, and only that."""

import subprocess
import sys

import pytest

IMPORT = """
import gc
{before}
count = gc.get_freeze_count()
from frontends import tf
assert tf.__name__ == "frontends.tf"
print(gc.get_freeze_count() > count)
"""


def frozen(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", "True"),
        ("mine = [[] for _ in range(200_000)]", "False"),  # some of which may become garbage
        ("gc.disable()", "False"),
    ],
)
def test_what_an_import_made_is_left_alone_unless_there_was_much_before(before, expected):
    assert frozen(IMPORT.format(before=before)) == [expected]


@pytest.mark.slow
def test_what_a_small_module_finds_there_may_become_garbage():
    script = """
import gc, weakref
from frontends import tf
count = gc.get_freeze_count()
class Node:
    def __init__(self):
        self.me = self
node = Node()
gone = weakref.ref(node)
tf.summary  # imported now
del node
gc.collect()
print(gone() is None, 0 < gc.get_freeze_count() <= count)  # some are gone
"""
    assert frozen(script) == ["True", "True"]


@pytest.mark.slow
def test_looking_a_module_up_again_freezes_nothing():
    script = """
import gc
from frontends import tf
tf.compat.v2.keras.layers
count = gc.get_freeze_count()
tf.compat.v2.keras.layers, tf.compat.v1.keras.layers
print(0 < gc.get_freeze_count() <= count)
"""
    assert frozen(script) == ["True"]
