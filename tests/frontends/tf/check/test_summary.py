"""Counts over files."""

from pathlib import Path

from frontends.tf.check.findings import Finding, Kind
from frontends.tf.check.report import Report
from frontends.tf.check.summary import summarize


def test_counts():
    missing, optional = ((Finding(kind, 1, "tf.b", ""),) for kind in (Kind.MISSING, Kind.OPTIONAL))
    names = {"tf.a": 3, "tf.b": 1}
    found = summarize(
        [
            Report(Path("a"), names),
            Report(Path("b"), names, missing),
            Report(Path("c"), names, optional),
            Report(Path("d"), findings=(Finding(Kind.UNREADABLE, 1, "", ""),)),
            Report(Path("e"), is_tensorflow=False),
        ]
    )
    assert (found.files, found.others, found.complete, found.unreadable) == (5, 1, 2, 1)
    assert (found.uses, found.present, found.missing) == (12, 10, {"tf.b": 1})
    assert not found.runs
    assert summarize([Report(Path("a"), names), Report(Path("e"), is_tensorflow=False)]).runs
