"""Damage to any file of a checkpoint is detected, and the file is named."""

import json
import os
import shutil
import zlib
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from spmd.checkpoint import (
    Checkpoint,
    CheckpointNotFoundError,
    DamagedCheckpointError,
    is_checkpoint,
    verify,
)


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


def test_a_folder_of_checkpoints_names_the_last(path, tmp_path):
    folder = tmp_path / "several"
    for number in (2, 10):
        shutil.copytree(path, folder / f"ckpt-{number}")
    with pytest.raises(CheckpointNotFoundError, match=r"ckpt-2, ckpt-10\. Name one, .*ckpt-10'"):
        verify(str(folder))


def test_another_format_is_refused_by_name(path):
    manifest = path / "manifest.json"
    content = json.loads(manifest.read_text())["content"].replace("checkpoint 1", "checkpoint 9")
    manifest.write_text(json.dumps({"crc32": zlib.crc32(content.encode()), "content": content}))
    with pytest.raises(DamagedCheckpointError, match="has the format 'jaxtribute checkpoint 9'"):
        verify(str(path))
