"""Several processes save and restore one and the same checkpoint."""

import json

import jax
import pytest

from spmd.checkpoint import Checkpoint, CheckpointError, CheckpointManager, selection


@pytest.fixture
def second(monkeypatch, store):
    """Makes this process the second of two; gives what the first one says."""
    said = {"path": None, "error": ""}
    monkeypatch.setattr(jax, "process_index", lambda: 1)
    store.answer = lambda key, text: (json.dumps(said), text)
    return said


def refuse():
    raise AssertionError("only the first process looks")


def test_the_first_process_chooses(second, tmp_path):
    second["path"] = str(tmp_path / "ckpt-2")
    assert selection.agree_on_checkpoint(refuse, 1.0) == second["path"]


def test_what_keeps_the_first_process_from_choosing_is_told(second):
    second["error"] = "no permission"
    with pytest.raises(CheckpointError, match=r"Process 0 could not choose.*no permission"):
        selection.agree_on_checkpoint(refuse, 1.0)


def test_a_manager_goes_by_the_first_process(second, tmp_path):
    (tmp_path / "step-7").mkdir()
    (tmp_path / "step-7" / "manifest.json").write_text("seen by this process alone")
    assert CheckpointManager(Checkpoint(a=1), tmp_path).restore_latest() is None


@pytest.mark.parametrize("path", [None, "other"])
def test_the_path_of_the_first_process_counts(monkeypatch, store, tmp_path, path):
    first = Checkpoint(a=1).save(tmp_path / "ckpt-1")
    checkpoint = Checkpoint(a=0)
    checkpoint.wait()
    monkeypatch.setattr(jax, "process_index", lambda: 1)
    store.answer = lambda key, text: (first if key.endswith("restore") else text, text)
    checkpoint.restore(path)
    assert checkpoint.a == 1


def test_other_paths_are_told_of_once(monkeypatch, caplog):
    monkeypatch.setattr(selection, "_has_warned", False)
    assert selection.path_of_first(["", ""]) == ""
    assert caplog.text == ""
    for _ in range(2):
        assert selection.path_of_first(["run/ckpt-1", "run/ckpt-1", ""]) == "run/ckpt-1"
    assert caplog.text.count("Process 2 names no checkpoint, and process 0 run/ckpt-1.") == 1
