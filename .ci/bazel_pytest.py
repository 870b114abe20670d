"""Runs pytest on the files that a py_test in BUILD names."""

import sys

import pytest

sys.exit(pytest.main(["-p", "no:cacheprovider", *sys.argv[1:]]))
