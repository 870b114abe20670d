"""A folder is a checkpoint only when it is complete, whenever a save was killed."""

import shutil
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from spmd.checkpoint import (
    Checkpoint,
    CheckpointError,
    CheckpointManager,
    is_checkpoint,
    list_arrays,
    newest_intact,
    numbered_checkpoints,
    read_array,
    remove_checkpoint,
    remove_leftovers,
    saved_at,
    verify,
    wait_for_saves,
)
from spmd.checkpoint.layout import delete_leftovers


@pytest.fixture
def path(tmp_path: Path) -> Path:
    checkpoint = Checkpoint(b=jnp.ones(3), c=1)
    made = checkpoint.save(tmp_path / "ckpt")
    checkpoint.wait()
    return Path(made)


def test_a_folder_without_a_manifest_is_no_checkpoint(path):
    (path / "manifest.json").unlink()
    assert not is_checkpoint(str(path))


def test_leftovers_of_a_killed_save_are_removed(path):
    folder = path.parent
    (folder / "next.saving" / "arrays").mkdir(parents=True)
    (folder / "ckpt.replaced").mkdir()
    (folder / "notes").mkdir()
    delete_leftovers(str(folder))
    assert sorted(entry.name for entry in folder.iterdir()) == ["ckpt", "notes"]


def test_a_replacement_that_was_killed_leaves_the_former_one(path):
    path.rename(f"{path}.replaced")
    verify(str(path))
    assert is_checkpoint(str(path))
    checkpoint = Checkpoint(c=0, b=jnp.zeros(3))
    checkpoint.restore(path)
    assert (checkpoint.c, checkpoint.b.tolist()) == (1, [1, 1, 1])
    delete_leftovers(str(path.parent))
    assert path.is_dir()
    verify(str(path))


def test_a_replacement_that_was_killed_can_be_done_again(path):
    path.rename(f"{path}.replaced")
    checkpoint = Checkpoint(c=2)
    checkpoint.save(path)
    checkpoint.wait()
    assert list(path.parent.iterdir()) == [path]
    checkpoint.c = 0
    checkpoint.restore(path)
    assert checkpoint.c == 2


def test_a_removed_checkpoint_is_gone(path):
    remove_checkpoint(str(path))
    assert list(path.parent.iterdir()) == []
    remove_checkpoint(str(path))


@pytest.mark.parametrize("is_there", [True, False])
def test_with_a_checkpoint_goes_what_it_replaced(path, is_there):
    shutil.copytree(path, f"{path}.replaced")
    if not is_there:
        shutil.rmtree(path)
    remove_checkpoint(str(path))
    assert list(path.parent.iterdir()) == []


def test_checkpoints_are_listed_by_number(path):
    for name in ("ckpt-10", "ckpt-9", "other-1", "ckpt-x", "ckpt-11.replaced", "ckpt-12.saving"):
        shutil.copytree(path, path.with_name(name))
    path.with_name("ckpt-13").mkdir()  # without a manifest
    found = numbered_checkpoints(str(path.parent), "ckpt")
    assert found == {number: f"{path}-{number}" for number in (9, 10, 11)}
    assert numbered_checkpoints(str(path / "none"), "ckpt") == {}


@pytest.mark.parametrize("url", ["gs:/bucket/run", "nothing://bucket/run"])
def test_what_is_no_url_is_refused_before_anything_is_written(tmp_path, monkeypatch, url):
    """The system would make a folder with this name, on a disk that may go with the machine."""
    monkeypatch.chdir(tmp_path)
    checkpoint = Checkpoint(c=1)
    for act in (
        lambda: checkpoint.save(url),
        lambda: checkpoint.restore(url),
        lambda: CheckpointManager(checkpoint, url),
    ):
        with pytest.raises(CheckpointError, match=rf"got {url}: "):
            act()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_checkpoint_is_never_replaced(tmp_path):
    folder, file = tmp_path / "data", tmp_path / "notes"
    folder.mkdir()
    (folder / "mine").write_text("mine")
    file.write_text("mine")
    for path in (folder, file):
        with pytest.raises(CheckpointError, match="is neither: a checkpoint with this name would"):
            Checkpoint(c=1).save(path)
    assert (folder / "mine").read_text() == file.read_text() == "mine"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data", "notes"]


def test_a_url_of_a_file_is_its_path(tmp_path):
    checkpoint = Checkpoint(c=1)
    path = checkpoint.save(f"file://{tmp_path}/ckpt")
    checkpoint.wait()
    assert path == str(tmp_path / "ckpt")
    verify(path)


def test_all_that_takes_a_checkpoint_takes_its_url(tmp_path):
    url = f"file://{tmp_path}"
    Checkpoint(c=np.arange(3.0)).save(tmp_path / "ckpt-1")
    wait_for_saves()
    path = f"{url}/ckpt-1"
    verify(path)
    assert is_checkpoint(path)
    assert saved_at(path) == saved_at(str(tmp_path / "ckpt-1")) > 0
    assert newest_intact([path]) == path
    (entry,) = list_arrays(path)
    assert read_array(path, entry).tolist() == [0, 1, 2]
    assert numbered_checkpoints(url, "ckpt") == {1: str(tmp_path / "ckpt-1")}
    (tmp_path / "ckpt-2.saving").mkdir()
    remove_leftovers(url)
    remove_checkpoint(path)
    assert [*tmp_path.iterdir()] == []
