"""A checkpoint of a store is copied once, and its copy goes when nobody needs it."""

import shutil
import tempfile
from pathlib import Path

import jax.numpy as jnp
import pytest

import spmd
from spmd.checkpoint import Checkpoint, DamagedCheckpointError, verify
from spmd.checkpoint.intact import forget_copy, verified_copy
from spmd.files import StorePath


@pytest.fixture(autouse=True)
def staged(tmp_path, monkeypatch):
    forget_copy()
    folder = tmp_path / "staged"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    forget_copy()


@pytest.fixture
def path(bucket) -> str:
    checkpoint = Checkpoint(a=jnp.arange(3.0), v=spmd.Variable(jnp.ones(2)))
    made = checkpoint.save(f"{bucket}/ckpt")
    checkpoint.wait()
    return made


def test_a_copy_is_made_once(path, staged, monkeypatch):
    assert list(staged.iterdir()) == []  # what was saved is in the store, and nowhere else
    verify(path)
    monkeypatch.setattr(StorePath, "download", None)
    verify(path)
    checkpoint = Checkpoint(a=jnp.zeros(3))
    checkpoint.restore(path).expect_partial()
    assert checkpoint.a.tolist() == [0, 1, 2]


def test_another_checkpoint_of_the_name_is_copied_anew(path):
    first = verified_copy(path)
    again = Checkpoint(a=jnp.ones(3))
    again.save(path)
    again.wait()
    assert verified_copy(path).manifest != first.manifest


def test_values_that_wait_for_objects_keep_the_copy(path, staged):
    checkpoint = Checkpoint(a=jnp.zeros(3))
    checkpoint.restore(path)
    forget_copy()
    StorePath(path).rmtree()
    checkpoint.v = spmd.Variable(jnp.zeros(2))
    assert checkpoint.v.value.tolist() == [1, 1]
    assert list(staged.iterdir()) == []


def test_a_checkpoint_that_is_replaced_while_it_is_copied_is_copied_again(path, monkeypatch):
    download, seen = StorePath.download, []

    def replaced(self, file):
        if not seen:
            seen.append(self)
            again = Checkpoint(a=jnp.full(3, 7.0))
            again.save(path)
            again.wait()
        download(self, file)

    monkeypatch.setattr(StorePath, "download", replaced)
    checkpoint = Checkpoint(a=jnp.zeros(3))
    checkpoint.restore(path)
    assert checkpoint.a.tolist() == [7, 7, 7]


def copied(source, target):
    """Copies a checkpoint file by file over what is there, as the tools of clouds do."""
    for name in StorePath(source).files():
        StorePath(source).joinpath(name).copy(f"{target}/{name}")


def test_a_checkpoint_that_was_copied_over_an_older_one_is_the_one_that_is_restored(path, tmp_path):
    older = Checkpoint(a=jnp.full(3, 5.0), v=spmd.Variable(jnp.ones(2)))
    on_disk = older.save(tmp_path / "ckpt")
    older.wait()
    copied(path, f"local://{on_disk}")
    checkpoint = Checkpoint(a=jnp.zeros(3))
    checkpoint.restore(on_disk).expect_partial()
    assert checkpoint.a.tolist() == [0, 1, 2]


def test_what_was_copied_to_a_store_goes_when_it_is_saved_again_there(bucket, tmp_path):
    first, again = Checkpoint(a=jnp.zeros(3)), Checkpoint(a=jnp.ones(3))
    on_disk = first.save(tmp_path / "ckpt")
    first.wait()
    copied(f"local://{on_disk}", f"{bucket}/ckpt")
    again.save(f"{bucket}/ckpt")
    again.wait()
    assert not (StorePath(bucket) / "ckpt/arrays").exists()
    found = Checkpoint(a=jnp.full(3, 7.0))
    found.restore(f"{bucket}/ckpt")
    assert found.a.tolist() == [1, 1, 1]


def test_a_checkpoint_that_was_copied_from_a_store_to_a_disk_is_restored(path, tmp_path):
    for name in StorePath(path).files():
        file = tmp_path / "ckpt" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        StorePath(path).joinpath(name).download(str(file))
    checkpoint = Checkpoint(a=jnp.zeros(3))
    checkpoint.restore(tmp_path / "ckpt").expect_partial()
    assert checkpoint.a.tolist() == [0, 1, 2]
    file = next((tmp_path / "ckpt").glob("jaxtribute-*/arrays/_METADATA"))
    file.write_text("{}")
    forget_copy()
    with pytest.raises(DamagedCheckpointError, match=str(file)):
        verify(str(tmp_path / "ckpt"))


def test_a_checkpoint_that_was_copied_from_a_disk_to_a_store_is_restored(bucket, tmp_path):
    checkpoint = Checkpoint(a=jnp.arange(3.0))
    made = Path(checkpoint.save(tmp_path / "ckpt"))
    checkpoint.wait()
    for file in made.rglob("*"):
        if file.is_file():
            StorePath(bucket).joinpath("ckpt", file.relative_to(made)).upload(str(file))
    shutil.rmtree(made)
    checkpoint.a = jnp.zeros(3)
    checkpoint.restore(f"{bucket}/ckpt")
    assert checkpoint.a.tolist() == [0, 1, 2]
