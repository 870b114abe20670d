"""A checkpoint in a store is there when its manifest is, which names files that nothing else touches."""

import json
import threading
import time
import zlib

import jax.numpy as jnp
import pytest

from spmd.checkpoint import (
    Checkpoint,
    CheckpointError,
    CheckpointManager,
    CheckpointNotFoundError,
    DamagedCheckpointError,
    DamagedCheckpointWarning,
    KeepPolicy,
    in_stores,
    is_checkpoint,
    list_arrays,
    numbered_checkpoints,
    remove_checkpoint,
    remove_leftovers,
    saved_at,
    verify,
)
from spmd.checkpoint.intact import forget_copy
from spmd.files import StoreError, StorePath


def saved(path, **objects) -> StorePath:
    checkpoint = Checkpoint(**(objects or {"a": jnp.arange(3.0), "b": 1}))
    made = checkpoint.save(path)
    checkpoint.wait()
    return StorePath(made)


def attempts(checkpoint: StorePath) -> set[str]:
    return {name.partition("/")[0] for name in checkpoint.files()} - {"manifest.json"}


def test_state_goes_there_and_back(bucket):
    path = saved(f"{bucket}/run/ckpt/")
    assert path.url == f"{bucket}/run/ckpt"
    checkpoint = Checkpoint(a=jnp.zeros(3), b=0)
    checkpoint.restore(path.url).assert_consumed()
    assert (checkpoint.a.tolist(), checkpoint.b) == ([0, 1, 2], 1)
    assert [entry.name for entry in list_arrays(path.url)] == ["a"]
    assert time.time() - 100 < saved_at(path.url) <= time.time() + 1


def test_without_its_manifest_it_is_none(bucket):
    path = saved(f"{bucket}/ckpt-1")
    assert numbered_checkpoints(bucket, "ckpt") == {1: path.url}
    (path / "manifest.json").unlink()
    assert not is_checkpoint(path.url)
    assert numbered_checkpoints(bucket, "ckpt") == {}
    with pytest.raises(CheckpointNotFoundError, match=r"There is no checkpoint at memory://"):
        Checkpoint(b=0).restore(path.url)


def test_checkpoints_are_listed_by_number_and_deleted(bucket):
    checkpoint = Checkpoint(b=0)
    manager = CheckpointManager(checkpoint, f"{bucket}/run", keep=KeepPolicy(last=2))
    for step in (9, 10, 11):
        manager.save(step)
        manager.wait()
    (StorePath(bucket) / "run/step-x/manifest.json").write_text("{}")
    assert list(manager.checkpoints) == [10, 11]
    remove_checkpoint(f"{bucket}/run/step-10")
    assert {name.split("/")[0] for name in StorePath(bucket).joinpath("run").files()} == {
        "step-11",
        "step-x",
    }
    assert numbered_checkpoints(f"{bucket}/none", "step") == {}


def test_a_checkpoint_counts_until_the_one_that_replaces_it_is_complete(bucket, monkeypatch):
    path = saved(f"{bucket}/ckpt")
    before, put = path.files(), StorePath.write_bytes
    found = []

    def write_bytes(self, content):
        """Puts the manifest, at last."""
        forget_copy()
        checkpoint = Checkpoint(b=0)
        checkpoint.restore(path.url).expect_partial()
        found.append((checkpoint.b, before.items() <= path.files().items()))
        put(self, content)

    monkeypatch.setattr(StorePath, "write_bytes", write_bytes)
    saved(path.url, b=2)
    assert found == [(1, True)]
    assert attempts(path) == set()  # numbers are in the manifest
    checkpoint = Checkpoint(b=0)
    checkpoint.restore(path.url)
    assert checkpoint.b == 2


def test_what_killed_saves_left_is_deleted(bucket):
    path = saved(f"{bucket}/run/ckpt-1")
    whole = path.files()
    left = in_stores.new_attempt()
    (path / left / "arrays/a").write_text("half")
    (StorePath(bucket) / "run/ckpt-2" / left / "arrays/a").write_text("half")
    (StorePath(bucket) / "run/notes/data-0123456789abcdef/part-0").write_text("mine")
    remove_leftovers(f"{bucket}/run")
    assert path.files() == whole
    assert set(StorePath(bucket).joinpath("run").files()) == {
        *(f"ckpt-1/{name}" for name in whole),
        "notes/data-0123456789abcdef/part-0",
    }


def test_nothing_of_a_damaged_checkpoint_is_deleted(bucket):
    path = saved(f"{bucket}/run/ckpt-1")
    (path / "manifest.json").write_text("{}")
    before = path.files()
    remove_leftovers(f"{bucket}/run")
    assert path.files() == before


@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_a_damaged_file_is_passed_over(bucket, damage):
    older = saved(f"{bucket}/step-1", b=1, a=jnp.ones(3))
    newer = saved(f"{bucket}/step-2", b=2, a=jnp.ones(3))
    name = next(name for name in newer.files() if name.endswith("arrays/manifest.ocdbt"))
    content = (newer / name).read_bytes()
    if damage == "gone":
        (newer / name).unlink()
    else:
        last = b"" if damage == "cut" else bytes([content[-1] ^ 1])
        (newer / name).write_bytes(content[:-1] + last)
    checkpoint = Checkpoint(a=jnp.zeros(3), b=0)
    with pytest.warns(DamagedCheckpointWarning, match=f"step-2 is damaged: {newer / name}: it"):
        assert CheckpointManager(checkpoint, bucket).restore_latest() == 1
    assert checkpoint.b == 1
    with pytest.raises(DamagedCheckpointError, match="step-2 is damaged"):
        checkpoint.restore(newer.url)
    remove_checkpoint(older.url)
    with (
        pytest.warns(DamagedCheckpointWarning),
        pytest.raises(DamagedCheckpointError, match=r"No checkpoint in memory://.* is intact"),
    ):
        CheckpointManager(checkpoint, bucket).restore_latest()


def test_what_the_store_lists_is_compared_with_what_was_put_there(bucket, monkeypatch):
    monkeypatch.setattr(StorePath, "upload", lambda self, file: self.write_bytes(b""))
    with pytest.raises(OSError, match=r"not be written: .*: the store lists 0 bytes, and \d+ "):
        saved(f"{bucket}/ckpt")
    monkeypatch.setattr(StorePath, "upload", lambda self, file: None)
    with pytest.raises(OSError, match="the store lists no such "):
        saved(f"{bucket}/ckpt")
    assert not is_checkpoint(f"{bucket}/ckpt")


def test_what_the_store_refuses_fails_the_save_and_the_next_one_works(bucket, monkeypatch):
    def refuse(self, file):
        raise StoreError(f"{self}: 403 Forbidden")

    checkpoint = Checkpoint(a=jnp.ones(3))
    manager = CheckpointManager(checkpoint, bucket)
    with monkeypatch.context() as patched:
        patched.setattr(StorePath, "upload", refuse)
        manager.save(1)
        with pytest.raises(OSError, match=r"step-1 was not saved, .*: memory://.*: 403 Forbidden$"):
            manager.wait()
    assert manager.save(2)
    manager.wait()
    assert list(manager.checkpoints) == [2]


def test_what_is_no_checkpoint_is_never_replaced(bucket):
    page = StorePath(bucket) / "site"
    (page / "manifest.json").write_text(json.dumps({"name": "a page"}))
    with pytest.raises(CheckpointError, match=r"is neither: it has 'manifest.json'. Save into it"):
        saved(page.url)
    assert page.files() == {"manifest.json": 18}
    for again in (1, 2):
        saved(f"{bucket}/number", b=again)  # has no other file than a manifest


def test_a_manifest_that_names_files_elsewhere_is_refused(bucket):
    path = saved(f"{bucket}/ckpt")
    content = json.loads(json.loads((path / "manifest.json").read_bytes())["content"])
    content["files"] = {"../../other": [1, 2]}
    text = json.dumps(content)
    whole = {"crc32": zlib.crc32(text.encode()), "content": text}
    (path / "manifest.json").write_text(json.dumps(whole))
    with pytest.raises(DamagedCheckpointError, match="names a file outside of the folder"):
        verify(path.url)


def test_in_threads_raises_the_first_error_when_all_have_ended():
    ended, begun = [], threading.Event()

    def act(item):
        if item == 0:
            assert begun.wait(60)
            raise OSError("first")
        begun.set()
        time.sleep(0.05)
        ended.append(item)

    with pytest.raises(OSError, match="first"):
        in_stores.in_threads(act, [0, 1], 10)
    assert ended == [1]
    end = threading.Event()
    with pytest.raises(TimeoutError):
        in_stores.in_threads(end.wait, [60], 0.01)
    end.set()
    for thread in threading.enumerate():
        if thread.name.startswith("spmd-store"):
            thread.join()


def test_a_store_that_never_answers_does_not_keep_the_process(run_python):
    code = """
import threading
from spmd.checkpoint import in_stores
try:
    in_stores.in_threads(lambda item: threading.Event().wait(), range(20), 0.1)
except TimeoutError as error:
    print(error)
"""
    assert run_python("-c", code).stdout == "the store did not answer within 0.1 s\n"
