"""`frontends`: a front end is imported at its first use, without a look for garbage."""

import gc
import subprocess
import sys

import pytest

import frontends

SCRIPT = """
import gc, sys
seen = set()
class Watch:
    def find_spec(self, name, *_):
        if name.startswith("frontends.tf"):
            seen.add(gc.isenabled())
sys.meta_path.insert(0, Watch())
{switch}
from frontends import tf
assert tf.__name__ == "frontends.tf"
print(seen, gc.isenabled())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("switch", "expected"), [("gc.enable()", "{False} True"), ("gc.disable()", "{False} False")]
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
