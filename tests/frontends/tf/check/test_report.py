"""Reports on files."""

from frontends.tf.check.findings import Kind
from frontends.tf.check.report import report_on


def report(tmp_path, text, name="a.py"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return report_on(path)


def test_a_script_that_finds_all_names(tmp_path):
    found = report(tmp_path, "import tensorflow as tf\ntf.cast(tf.cast(1, tf.int32), tf.int64)\n")
    assert found.runs
    assert dict(found.names) == {"tf.cast": 2, "tf.int32": 1, "tf.int64": 1}
    assert [(one.kind, one.line) for one in found.findings] == [(Kind.CHANGE, 1), (Kind.DIFFERS, 2)]
    assert found.names_with(Kind.DIFFERS) == {"tf.int64"}


def test_a_script_that_misses_names(tmp_path):
    text = "from tensorflow.python.ops import x\nfrom tensorflow import Session\nSession()\n"
    found = report(tmp_path, text)
    assert not found.runs
    assert found.names_with(Kind.MISSING) == {"tensorflow.python.ops.x", "tf.Session"}


def test_a_script_that_goes_on_without_a_name_runs(tmp_path):
    text = "try:\n  from tensorflow.python.ops import x\nexcept ImportError:\n  x = None\n"
    found = report(tmp_path, text)
    assert found.runs
    assert found.names_with(Kind.OPTIONAL) == {"tensorflow.python.ops.x"}


def test_python_2_is_unreadable_if_it_uses_tensorflow(tmp_path):
    found = report(tmp_path, "import tensorflow as tf\nprint 'a'\n")
    (finding,) = found.findings
    assert (finding.kind, finding.line) == (Kind.UNREADABLE, 2)
    assert "Python 2" in finding.text
    assert not found.runs
    other = report(tmp_path, "print 'a'\n")
    assert other.runs
    assert not other.is_tensorflow


def test_what_is_no_text_is_unreadable(tmp_path):
    for content, name in ((b"\xff\xfe\x00tensorflow", "a.py"), (b"{", "a.ipynb")):
        (finding,) = report(tmp_path, content, name).findings
        assert finding.kind == Kind.UNREADABLE
    (finding,) = report(tmp_path, "import tensorflow\n\0").findings
    assert finding.kind == Kind.UNREADABLE
    assert not report_on(tmp_path / "absent.py").runs


def test_warnings_about_a_script_are_not_shown(tmp_path):
    # As an error, in the tests, it would be raised here.
    assert report(tmp_path, "import tensorflow as tf\nx = '\\d'\nx is 1\n").runs


def test_names_of_a_script_for_version_1_are_looked_up_there(tmp_path):
    columns = "input_layer", "linear_model", "shared_embedding_columns"
    lines = "\n".join(f"tf.feature_column.{name}" for name in columns)
    found = report(tmp_path, f"import tensorflow as tf\n{lines}\ntf.cast(x, tf.int64)\ntf.foo")
    assert set(found.names) == {
        *(f"tf.feature_column.{name}" for name in columns),
        *("tf.cast", "tf.foo", "tf.int64"),
    }
    assert found.names_with(Kind.MISSING) == {"tf.foo"}
    assert found.names_with(Kind.DIFFERS) == {"tf.int64"}
    (missing,) = (one.text for one in found.findings if one.kind == Kind.MISSING)
    assert missing.startswith("tf.foo is not part of jaxtribute")


def test_notes_of_names_are_those_of_both_versions(tmp_path):
    text = (
        "import tensorflow{} as tf\ntf.distribute.MirroredStrategy(devices=['/gpu:0']).run(f)\n{}"
    )
    both = [
        report(tmp_path, text.format(*parts))
        for parts in (("", ""), (".compat.v1", ""), ("", "tf.layers.dense(x, 1)"))
    ]
    said = [
        [(one.kind, one.text) for one in each.findings if one.kind != Kind.CHANGE] for each in both
    ]
    assert said[0] == said[1] == said[2]
    assert {kind for kind, _ in said[0]} == {Kind.DIFFERS, Kind.CARE}
