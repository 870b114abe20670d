"""Reports as text, JSON and notes."""

import io
import json

import pytest
from rich.console import Console

from frontends.tf.check.output import as_github, as_json, print_report, print_summary
from frontends.tf.check.report import report_on
from frontends.tf.check.summary import summarize

SCRIPT = """\
import tensorflow as tf
x = tf.cast(1, tf.int64)
tf.Session()
y = tf.cast(1, tf.int64)
"""


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    (path,) = tmp_path.glob("*.py")
    return report_on(path.relative_to(tmp_path))


def printed(function, *args, width=80):
    file = io.StringIO()
    function(*args, Console(file=file, width=width, highlight=False))
    return file.getvalue().splitlines()


def test_a_report_fits_a_terminal(report):
    lines = printed(print_report, report)
    assert max(map(len, lines)) <= 80
    assert lines[0] == "train.py  3 names: 1 work, 1 differs, 1 missing"
    assert lines[1] == "for TensorFlow 1: it uses tf.Session (line 3)"
    assert lines[2].split() == ["3", "missing", "tf.Session"]
    assert lines[3].strip().startswith("It belongs to TensorFlow 1")
    text = "\n".join(lines)
    assert "change   import tensorflow as tf" in text
    assert "-> from frontends.tf.compat import v1 as tf" in text
    assert "2, 4  differs" in text


def test_lines_end_without_blanks(report):
    lines = printed(print_report, report)
    assert len(lines) > 5
    assert lines == [line.rstrip() for line in lines]


def test_many_lines_are_counted(tmp_path):
    (tmp_path / "a.py").write_text("import tensorflow as tf\n" + "tf.int64\n" * 9)
    text = "\n".join(printed(print_report, report_on(tmp_path / "a.py")))
    assert "2, 3, 4, 5 and" in text
    assert "5 more" in text


def test_a_summary(report):
    assert printed(print_summary, summarize([report]), width=200) == [
        "1 file with TensorFlow: 0 find all names, 1 do not. 4 of 5 uses work (80.0 %)."
    ]
    assert printed(print_summary, summarize([report, report]), width=200)[1] == (
        "Missing, and in how many files: tf.Session (2)."
    )
    assert printed(print_summary, summarize([])) == ["No file there uses TensorFlow."]


def test_json(report):
    found = json.loads(as_json([report], summarize([report])))
    assert found["summary"] == {
        **{"files": 1, "complete": 0, "unreadable": 0, "uses": 5, "present": 4},
        "missing": {"tf.Session": 1},
    }
    (file,) = found["files"]
    assert (file["path"], file["complete"]) == ("train.py", False)
    assert file["names"]["tf.cast"] == 2
    assert file["tensorflow"] == {"version": 1, "because": "it uses tf.Session (line 3)"}
    assert file["findings"][0] == {
        **{"kind": "change", "line": 1},
        **{"name": "import tensorflow as tf", "text": "from frontends.tf.compat import v1 as tf"},
    }


def test_places_in_notebooks(tmp_path):
    cells = [{"cell_type": "code", "source": "import tensorflow as tf\n\ntf.gone"}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    report = report_on(tmp_path / "a.ipynb")
    assert "cell 1, 3  missing" in "\n".join(printed(print_report, report))
    (file,) = json.loads(as_json([report], summarize([report])))["files"]
    assert [(one["cell"], one["line"]) for one in file["findings"]] == [(1, 1), (1, 3)]


def test_notes_for_github(report):
    first, _, third, _ = as_github([report]).splitlines()
    assert first == (
        "::notice file=train.py,line=1,title=change::import tensorflow as tf: from frontends.tf.compat import v1 as tf"
    )
    assert third.startswith("::error file=train.py,line=3,title=missing::tf.Session: tf.Session is")
