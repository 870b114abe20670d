"""Whatever happens to the files of a checkpoint is found, and named."""

import os
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from spmd.checkpoint import Checkpoint, DamagedCheckpointError, is_checkpoint, verify
from spmd.checkpoint.manifest import remove, remove_leftovers


@pytest.fixture
def path(tmp_path: Path) -> Path:
    checkpoint = Checkpoint(a=jax.random.normal(jax.random.key(0), (100, 10)), b=jnp.ones(3), c=1)
    made = checkpoint.save(tmp_path / "ckpt")
    checkpoint.wait()
    return Path(made)


def files(path: Path) -> list[Path]:
    found = sorted(file for file in path.rglob("*") if file.is_file())
    assert len(found) > 5
    return found


def test_a_whole_checkpoint_passes(path):
    assert is_checkpoint(str(path))
    verify(str(path))


@pytest.mark.parametrize(
    "damage", ["delete", "empty", "cut", "flip first", "flip middle", "flip last"]
)
def test_every_file_is_guarded(path, damage):
    for file in files(path):
        content = file.read_bytes()
        if damage == "delete":
            file.unlink()
        elif damage == "empty":
            file.write_bytes(b"")
        elif damage == "cut":
            file.write_bytes(content[:-1])
        else:
            at = {"first": 0, "middle": len(content) // 2, "last": len(content) - 1}[
                damage.split()[1]
            ]
            file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(DamagedCheckpointError, match=f"is damaged: .*{file.name}"):
            Checkpoint(c=0).restore(path)
        file.write_bytes(content)
    verify(str(path))


def test_the_message_says_what_is_wrong(path):
    file = max(files(path), key=os.path.getsize)
    content = file.read_bytes()
    file.write_bytes(content[:10])
    with pytest.raises(
        DamagedCheckpointError, match=f"it has 10 bytes, and {len(content)} were written"
    ):
        verify(str(path))
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DamagedCheckpointError, match=r"its CRC-32 is \w{8}, and \w{8} was written"):
        verify(str(path))
    file.unlink()
    with pytest.raises(DamagedCheckpointError, match="it is missing"):
        verify(str(path))


def test_a_folder_without_a_manifest_is_no_checkpoint(path):
    (path / "manifest.json").unlink()
    assert not is_checkpoint(str(path))


def test_another_format_is_refused_by_name(path):
    manifest = path / "manifest.json"
    import json
    import zlib

    content = json.loads(manifest.read_text())["content"].replace("checkpoint 1", "checkpoint 9")
    manifest.write_text(json.dumps({"crc32": zlib.crc32(content.encode()), "content": content}))
    with pytest.raises(DamagedCheckpointError, match="has the format 'jaxtribute checkpoint 9'"):
        verify(str(path))


def test_leftovers_of_a_killed_save_are_removed(path):
    folder = path.parent
    (folder / "next.saving" / "arrays").mkdir(parents=True)
    (folder / "ckpt.replaced").mkdir()
    (folder / "notes").mkdir()
    assert remove_leftovers(str(folder)) == ["ckpt.replaced", "next.saving"]
    assert sorted(entry.name for entry in folder.iterdir()) == ["ckpt", "notes"]


def test_a_replacement_that_was_killed_leaves_the_former_one(path):
    path.rename(f"{path}.replaced")
    verify(str(path))
    assert is_checkpoint(str(path))
    checkpoint = Checkpoint(c=0, b=jnp.zeros(3))
    checkpoint.restore(path)
    assert (checkpoint.c, checkpoint.b.tolist()) == (1, [1, 1, 1])
    remove_leftovers(str(path.parent))
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
    remove(str(path))
    assert list(path.parent.iterdir()) == []
    remove(str(path))


@pytest.mark.parametrize("is_there", [True, False])
def test_with_a_checkpoint_goes_what_it_replaced(path, is_there):
    shutil.copytree(path, f"{path}.replaced")
    if not is_there:
        shutil.rmtree(path)
    remove(str(path))
    assert list(path.parent.iterdir()) == []
