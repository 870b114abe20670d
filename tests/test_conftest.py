"""What ../conftest.py does for doctests."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_module_that_its_package_exports_by_the_same_name_runs_alone():
    """Such as `tf.function`, whose examples call it."""
    root = Path(__file__).parents[1]
    arguments = ["-q", "-p", "no:cacheprovider", "--doctest-modules", "frontends/tf/function.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], cwd=root, capture_output=True, text=True
    )
    assert "1 passed" in run.stdout, run.stdout
