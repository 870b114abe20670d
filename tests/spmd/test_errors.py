"""Remedies in errors: the engine's spelling, and that of a front end."""

import ast
import re
from pathlib import Path

import pytest

import spmd
from spmd import errors
from spmd.errors import Remedy, register_remedy

FIELDS = {"count": 2, "value": "loss", "name": "model"}
# What the engine takes as input, whoever made it.
SOURCES = {"tf.data.Dataset"}


@pytest.fixture
def no_front_end(monkeypatch):
    monkeypatch.setattr(errors, "_spellings", {})


@pytest.mark.usefixtures("no_front_end")
@pytest.mark.parametrize("remedy", Remedy)
def test_a_remedy_is_spelled_as_was_registered_last(remedy):
    assert remedy.spelled(**FIELDS) == remedy.value.format(**FIELDS)
    register_remedy(remedy, "write {value}" if "{value}" in remedy.value else "write it")
    assert remedy.spelled(**FIELDS) in ("write loss", "write it")


def test_the_engine_uses_no_name_of_tensorflow():
    """In strings, but for docstrings, which name sources."""
    found = []
    for file in Path(spmd.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""  # a docstring; nodes are walked from the outside in
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names = re.findall(r"\b(?:tf|strategy)\.\w[\w.]*\w", node.value)
                found += [f"{file}: {name}" for name in names if name not in SOURCES]
    assert found == []
