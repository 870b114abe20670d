"""Where a save writes, and that several processes put their files into one attempt."""

import json
import threading

import jax.numpy as jnp
import pytest

from spmd.checkpoint import Checkpoint, is_checkpoint
from spmd.checkpoint.destination import InStore, OnDisk, destination
from spmd.checkpoint.intact import verified_copy
from spmd.files import StoreError, StorePath


def test_the_path_decides(tmp_path, bucket):
    assert isinstance(destination(str(tmp_path / "ckpt"), "data-0", 1.0), OnDisk)
    assert isinstance(destination(f"{bucket}/ckpt", "data-0", 1.0), InStore)


def test_the_manifest_names_what_all_processes_put_there(bucket, store):
    other = {"arrays/other": [3, 891568578]}  # of "abc"

    def answer(key, text):
        if key != "checkpoint/put":
            return (text,)
        (attempt,) = StorePath(f"{bucket}/ckpt").iterdir()
        (attempt / "arrays/other").write_text("abc")
        return (text, json.dumps(other))

    store.answer = answer
    checkpoint = Checkpoint(a=jnp.ones(3))
    path = checkpoint.save(f"{bucket}/ckpt")
    checkpoint.wait()
    store.answer = lambda key, text: (text,)
    copy = verified_copy(path)
    with open(f"{copy.folder}/arrays/other") as file:
        assert file.read() == "abc"


def test_a_process_that_fails_leaves_no_checkpoint(bucket, store):
    def answer(key, text):
        return (text, "s3://bucket/a: 403") if key == "checkpoint/written" else (text, text)

    store.answer = answer
    checkpoint = Checkpoint(b=1)
    checkpoint.save(f"{bucket}/ckpt")
    with pytest.raises(OSError, match=r"because process 1 could not write it: s3://bucket/a: 403$"):
        checkpoint.wait()
    assert not is_checkpoint(f"{bucket}/ckpt")


@pytest.mark.parametrize("failing", ["done", "manifest", "rmtree"])
def test_files_that_a_manifest_names_are_never_deleted(bucket, monkeypatch, failing):
    """Whatever fails once the store may have the manifest."""
    checkpoint = Checkpoint(a=jnp.ones(3))
    path = checkpoint.save(f"{bucket}/ckpt")
    checkpoint.wait()
    put = StorePath.write_bytes

    def put_and_fail(self, content):
        put(self, content)
        raise StoreError(f"{self}: the answer was lost")

    def fail(*_):
        raise StoreError("403")

    checkpoint.a = jnp.zeros(3)
    with monkeypatch.context() as patched:
        if failing == "manifest":
            patched.setattr(StorePath, "write_bytes", put_and_fail)
        if failing == "rmtree":
            patched.setattr(StorePath, "rmtree", fail)
        checkpoint.save(path, done=fail if failing == "done" else None)
        if failing == "rmtree":
            checkpoint.wait()
        else:
            with pytest.raises(OSError, match=r"403|the answer was lost"):
                checkpoint.wait()
    for thread in threading.enumerate():
        if "_quietly" in thread.name:
            thread.join()
    checkpoint.a = jnp.ones(3)
    checkpoint.restore(path)
    assert checkpoint.a.tolist() == [0, 0, 0]
