"""Which modules of its own project a script imports."""

import ast

import pytest

from frontends.tf.check.own_modules import own_modules
from frontends.tf.check.report import report_on


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import model", ["model.py"]),
        ("import nets.net as n", ["nets/net.py"]),
        ("from nets import net, absent", ["nets/net.py", "nets/__init__.py"]),
        ("from nets.net import function", ["nets/net.py"]),
        ("from . import model", ["model.py"]),
        ("from .nets.net import function", ["nets/net.py"]),
        ("def f():\n    import model\n    import model", ["model.py"]),
        ("import numpy, os.path", []),
        ("from .. import model", []),
    ],
)
def test_own_modules(tmp_path, line, expected):
    (tmp_path / "nets").mkdir()
    for name in ("model.py", "nets/__init__.py", "nets/net.py"):
        (tmp_path / name).write_text("")
    path = tmp_path / "main.py"
    path.write_text(line)
    assert own_modules(report_on(path)) == [tmp_path / name for name in expected]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("import model", ["model.py"]),
        ("from nets import net", ["nets/net.py"]),
        ("from . import net", ["nets/net.py"]),
        ("from .. import model", ["model.py"]),
        ("from ..nets.net import function", ["nets/net.py"]),
        ("from ... import model", []),
        ("import unlisted", []),
        ("print 'Python 2'", []),
    ],
)
def test_modules_of_a_whole_project(tmp_path, line, expected):
    (tmp_path / "nets").mkdir()
    (tmp_path / "unlisted.py").write_text("")
    path = tmp_path / "nets" / "main.py"
    path.write_text(line)
    project = {(tmp_path / name).resolve() for name in ("model.py", "nets/net.py")}
    found = own_modules(report_on(path), project)
    assert found == [(tmp_path / name).resolve() for name in expected]


def test_a_script_with_tensorflow_is_parsed_once(tmp_path, monkeypatch):
    path = tmp_path / "main.py"
    path.write_text("import tensorflow as tf, model\ntf.layers.dense(x, 1)\n")  # of TensorFlow 1
    (tmp_path / "model.py").write_text("")
    parsed = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda *args: parsed.append(args) or parse(*args))
    assert own_modules(report_on(path)) == [tmp_path / "model.py"]
    assert parsed.count((path.read_text(),)) == 1  # others are our own functions
