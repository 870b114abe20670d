"""What a task leaves that has failed."""

import sys

import pytest

from spmd.cluster import error_file
from spmd.cluster.error_file import ErrorFile


@pytest.fixture(autouse=True)
def _nothing_started(monkeypatch):
    monkeypatch.setattr(error_file, "_file", None)
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)


def error(message):
    try:
        raise KeyError(message)
    except KeyError as raised:
        return raised


def test_the_first_cause_comes_first(tmp_path):
    file = ErrorFile(tmp_path / "error")
    assert list(tmp_path.iterdir()) == []
    file.note_error(error("mine"))
    file.note_cause("worker 1 is gone")
    cause, _, traceback = (tmp_path / "error").read_text().partition("\n\n")
    assert cause == "worker 1 is gone"
    assert traceback.startswith("Traceback")
    assert traceback.endswith("KeyError: 'mine'\n")


def test_it_is_as_long_as_kubernetes_shows(tmp_path):
    file = ErrorFile(tmp_path / "error")
    file.note_cause("first " + "x" * 9000)
    file.note_error(error("y" * 9000 + "last"))
    text = (tmp_path / "error").read_bytes()
    assert len(text) <= 4096
    assert text.startswith(b"first ")
    assert text.endswith(b"last'\n")


def test_what_an_earlier_attempt_left_goes(tmp_path):
    path = tmp_path / "error"
    path.write_text("earlier")
    before = path.stat().st_ino
    ErrorFile(path)
    assert path.read_text() == ""
    assert path.stat().st_ino == before  # it may be mounted


def test_a_file_that_cannot_be_written_hinders_nobody(tmp_path):
    file = ErrorFile(tmp_path / "none" / "error")
    file.note_cause("x")


@pytest.mark.parametrize(("task", "name"), [(0, "error"), (2, "error-2")])
def test_the_environment_names_it(tmp_path, monkeypatch, task, name):
    error_file.start(task)
    error_file.note_cause("nobody asked")
    monkeypatch.setenv("JAXTRIBUTE_ERROR_FILE", str(tmp_path / "error"))
    error_file.start(task)
    hook = sys.excepthook
    error_file.start(task)
    assert sys.excepthook is hook
    sys.excepthook(KeyError, error("mine"), None)
    error_file.note_cause("worker 1 is gone")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text().startswith("worker 1 is gone\n\nTraceback")
