"""`frontends`: a front end is imported at its first use, without a look for garbage."""

import gc
import subprocess
import sys

import pytest

import frontends

SCRIPT = """
import gc
collections = []
# The youngest are looked through before Python comes to the front end.
gc.callbacks.append(lambda _, found: collections.append(found["generation"]))
{switch}
from frontends import tf
assert tf.__name__ == "frontends.tf"
print(sum(generation > 0 for generation in collections), gc.isenabled())
"""


@pytest.mark.parametrize(
    ("switch", "expected"), [("gc.enable()", "0 True"), ("gc.disable()", "0 False")]
)
def test_no_garbage_is_looked_for_in_the_import(switch, expected):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(switch=switch)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected


def test_other_names_are_an_error():
    with pytest.raises(AttributeError, match="frontends has no attribute 'torch'"):
        _ = frontends.torch
    assert gc.isenabled()
    with pytest.raises(ImportError, match="torch"):
        from frontends import torch  # noqa: F401
