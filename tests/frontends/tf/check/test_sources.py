"""Files are found and read."""

import json
import tokenize

import pytest

from frontends.tf.check.sources import UnreadableError, cells_of, files_in, read


def notebook(*cells):
    return json.dumps(
        {"cells": [{"cell_type": kind, "source": source} for kind, source in cells], "nbformat": 4}
    )


def test_folders_are_searched_and_copies_skipped(tmp_path):
    for name in ("a.py", "b.ipynb", "c.txt", "sub/d.py", ".git/e.py", "__pycache__/f.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "venv" / "g.py").write_text("")
    found = [str(path.relative_to(tmp_path)) for path in files_in([tmp_path])]
    assert found == ["a.py", "b.ipynb", "sub/d.py"]
    # A file that is named is looked at, whatever it is called.
    assert list(files_in([tmp_path / "c.txt"])) == [tmp_path / "c.txt"]


def test_scripts_are_decoded_as_python_decodes_them(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes("# coding: latin-1\nx = 'ü'\n".encode("latin-1"))
    assert read(path).text.endswith("x = 'ü'\n")
    path.write_bytes(b"x = '\xff'\n")
    with pytest.raises(UnreadableError, match="not text"):
        read(path)


def test_cells_of_a_notebook_are_one_program(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [
        ("markdown", "# x"),
        (
            "code",
            [
                "%matplotlib inline\n",
                "import tensorflow as tf\n",
                "if x:\n",
                "  !pip \\\n",
                "    y",
            ],
        ),
        ("code", "%%bash\nls -l | grep x"),
        ("code", "files = !ls\ntf.cast?\ntf.foo"),
    ]
    path.write_text(notebook(*cells))
    source = read(path)
    assert source.text.splitlines() == [
        *("pass", "import tensorflow as tf", "if x:", "  pass", "  pass"),
        *("pass", "pass", "pass", "pass", "tf.foo"),
    ]
    assert [source.place(line) for line in (1, 2, 7, 10)] == [
        *("cell 2, 1", "cell 2, 2", "cell 3, 2", "cell 4, 3")
    ]
    assert [number for number, _ in cells_of(source.notebook)] == [2, 3, 4]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"worksheets": []}'])
def test_what_is_no_notebook_says_so(tmp_path, text):
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    with pytest.raises(UnreadableError, match="not a notebook"):
        read(path)


def test_cells_may_begin_with_blanks(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(
        notebook(("code", "x = 1\n"), ("code", "\n for y in (1, 2):\n   print(y)\n x\n"))
    )
    # The fixes of a cell count columns in this text.
    assert [text for _, text in cells_of(json.loads(path.read_text()))][1].startswith("\nfor y")
    assert read(path).text == "x = 1\n\n\nfor y in (1, 2):\n  print(y)\nx\n\n"


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%%time\ntf.foo\n!ls", ["pass", "tf.foo", "pass"]),
        ("\n%%capture out --no-stderr\ntf.foo", ["pass", "pass", "tf.foo"]),
        ("%%writefile model.py\nx = (1\n  % 2)", ["pass", "x = (1", "  % 2)"]),
        ("%%writefile 'my model.py'\ntf.foo", ["pass", "tf.foo"]),
        ("%%writefile -a half.py\n  x = (", ["pass", "pass"]),
        ("%%writefile data.txt\ntf.foo", ["pass", "pass"]),
        ("%%timer\ntf.foo", ["pass", "pass"]),
        ("!ls\nprint('%d'\n  %(1))\n%cd x", ["pass", "print('%d'", "  %(1))", "pass"]),
        ("%cd x\nx = 3 \\\n  % 2", ["pass", "x = 3 \\", "  % 2"]),
        ('%cd x\nx = """\n!ls\n"""\n!ls', ["pass", 'x = """', "!ls", '"""', "pass"]),
        ('"""\n!ls\n"""\n!ls', ['"""', "!ls", '"""', "pass"]),
        ("def f():\n  x = [\n%(y)]\n!ls", ["def f():", "  x = [", "%(y)]", "pass"]),
        ("x = 1)\n!ls\nx = (\n%y)", ["x = 1)", "pass", "x = (", "%y)"]),
        ("  x = '\n y\n!ls\ntf.foo?", ["x = '", " y", "pass", "pass"]),
    ],
)
def test_cells_are_python_but_for_what_only_ipython_takes(tmp_path, cell, python):
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(("code", cell)))
    assert read(path).text.splitlines() == python


def test_lines_before_magics_are_read_once(tmp_path, monkeypatch):
    counts = []
    tokens_of = tokenize.generate_tokens

    def counted(readline):
        for token in tokens_of(readline):
            counts.append(token)
            yield token

    monkeypatch.setattr(tokenize, "generate_tokens", counted)
    path = tmp_path / "a.ipynb"
    lengths = []
    for cells in (10, 20):
        path.write_text(notebook(("code", "x = 1\n!ls\n" * cells)))
        counts.clear()
        assert read(path).text.count("pass") == cells
        lengths.append(len(counts))
    assert 0 < lengths[1] < 2.1 * lengths[0]
