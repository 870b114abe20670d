"""Several processes restore one and the same checkpoint."""

import json

import jax
import pytest

import spmd.checkpoint.checkpoint as checkpoint_module
from spmd.checkpoint import Checkpoint, CheckpointError, CheckpointManager, selection


@pytest.fixture
def second(monkeypatch):
    """Makes this process the second of two; gives what the first one says."""
    said = {"path": None, "error": ""}

    def gather(key, text, timeout):
        return (json.dumps(said), text)

    monkeypatch.setattr(jax, "process_index", lambda: 1)
    monkeypatch.setattr(selection, "all_gather_small", gather)
    monkeypatch.setattr(checkpoint_module, "all_gather_small", gather)
    return said


def refuse():
    raise AssertionError("only the first process looks")


def test_the_first_process_chooses(second, tmp_path):
    second["path"] = str(tmp_path / "ckpt-2")
    assert selection.chosen_by_first(refuse, 1.0) == second["path"]


def test_what_keeps_the_first_process_from_choosing_is_told(second):
    second["error"] = "no permission"
    with pytest.raises(CheckpointError, match=r"Process 0 could not choose.*no permission"):
        selection.chosen_by_first(refuse, 1.0)


def test_a_manager_goes_by_the_first_process(second, tmp_path):
    (tmp_path / "step-7").mkdir()
    (tmp_path / "step-7" / "manifest.json").write_text("seen by this process alone")
    assert CheckpointManager(Checkpoint(a=1), tmp_path).restore_latest() is None


@pytest.mark.parametrize("path", [None, "other"])
def test_another_path_is_refused(second, path):
    second["path"] = "/run/ckpt-1"
    with pytest.raises(CheckpointError, match="Process 0 restores /run/ckpt-1, and process 1"):
        Checkpoint(a=1).restore(path)
