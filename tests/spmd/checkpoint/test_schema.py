"""Odd manifests are refused by one kind of error, and lead to no file outside of the checkpoint."""

import contextlib
import copy
import json
import os
import random
import zlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from spmd.checkpoint import Checkpoint, CheckpointError, DamagedCheckpointError, read_array, verify
from spmd.checkpoint.manifest import read_manifest
from spmd.checkpoint.reading import list_arrays
from spmd.checkpoint.schema import SchemaError, check_content

ODD = (
    None,
    True,
    -1,
    3,
    10**30,
    0.5,
    "",
    "x",
    "f4,(",
    "../../x",
    "/dev/zero",
    "\0",
    "\ud800",
    [],
    [1],
    {},
    {"a": 1},
)


class Iterator:
    def __init__(self) -> None:
        self.position = 0

    def get_state(self) -> dict[str, int]:
        return {"position": self.position}

    def set_state(self, state: dict[str, int]) -> None:
        self.position = state["position"]


def objects() -> Checkpoint:
    return Checkpoint(
        a=jnp.ones(3), key=jax.random.key(0), n=1, s="x", d={"l": [1, 2.5]}, data=Iterator()
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    checkpoint = objects()
    made = checkpoint.save(tmp_path / "ckpt", notes={"step": 1})
    checkpoint.wait()
    return Path(made)


def content_of(path: Path) -> dict:
    return json.loads(json.loads((path / "manifest.json").read_text())["content"])


def write(path: Path, content: object) -> None:
    text = json.dumps(content)
    crc = zlib.crc32(text.encode())
    (path / "manifest.json").write_text(json.dumps({"crc32": crc, "content": text}))


def mutated(content: dict, chance: random.Random) -> dict:
    """Changes one place of the content: a value becomes another, or goes, or a new one comes."""
    content = copy.deepcopy(content)
    places = []

    def walk(value: Any) -> None:
        keys = (
            value
            if isinstance(value, dict)
            else range(len(value))
            if isinstance(value, list)
            else ()
        )
        for key in keys:
            places.append((value, key))
            walk(value[key])

    walk(content)
    holder, key = chance.choice(places)
    how = chance.randrange(4)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[chance.choice(["x", "../../x", "\0", "path"])] = chance.choice(ODD)
    else:
        holder[key] = chance.choice(ODD)
    return content


def test_ten_thousand_mutations(path):
    chance, content = random.Random(0), content_of(path)
    refused = 0
    for _ in range(10_000):
        try:
            check_content(mutated(content, chance))
        except SchemaError as error:
            refused += len(str(error)) < 300
    assert 4_000 < refused < 9_000


@pytest.mark.parametrize("seed", range(40))
def test_a_mutated_manifest_is_restored_or_refused(path, seed):
    chance, content = random.Random(seed), content_of(path)
    for _ in range(5):
        changed = mutated(content, chance)
        write(path, changed)
        with contextlib.suppress(CheckpointError):
            objects().restore(path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (
            ("nodes", 0, "children", "a"),
            99,
            r"nodes\[0\]\.children\['a'\]: expected a number below \d+, got 99",
        ),
        (("nodes", 1, "kind"), "pickle", r"nodes\[1\]\.kind: expected one of node"),
        (
            ("nodes", 1, "entries", 0, "dtype"),
            "float99",
            "expected the name of a dtype, got 'float99'",
        ),
        (("nodes", 2, "entries", 0, "prng"), "mine", "expected one of threefry2x32"),
        (("positions", 0, "data"), {}, r"positions\[0\]\['data'\]: expected either bytes or json"),
        (("files", "x"), [1], "expected a size and a CRC-32"),
        (("nodes",), [], "nodes: expected at least one, got none"),
        (("nodes", 0), 3, r"nodes\[0\]: expected an object, got 3"),
    ],
)
def test_the_message_says_where(path, place, value, message):
    content = content_of(path)
    holder = content
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    write(path, content)
    with pytest.raises(DamagedCheckpointError, match=message):
        read_manifest(str(path))


@pytest.mark.parametrize(
    "name", ["/dev/zero", "../secret", "arrays/../../secret", "\0", "", "arrays"]
)
def test_no_file_outside_is_read(path, name):
    (path.parent / "secret").write_text("secret")
    content = content_of(path)
    content["files"][name] = [6, 1]
    write(path, content)
    with pytest.raises(DamagedCheckpointError, match=r"outside of the folder|not a regular file"):
        verify(str(path))


def test_files_may_be_links(path):
    """As in caches of downloaded files, which have each file once."""
    for number, file in enumerate(sorted(one for one in path.rglob("*") if one.is_file())):
        moved = file.rename(path.parent / f"blob{number}")
        os.symlink(moved, file)
    verify(str(path))
    restored = objects()
    restored.restore(path)
    assert restored.n == 1


@pytest.mark.parametrize("name", ["f4,(", "object", "str", "void", "float99", "f4"])
def test_odd_dtypes(path, name):
    content = content_of(path)
    content["nodes"][1]["entries"][0]["dtype"] = name
    write(path, content)
    with pytest.raises(DamagedCheckpointError, match="expected the name of a dtype"):
        read_manifest(str(path))


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[]", "3", '{"content": 3}', '{"content": "[]", "crc32": 223132457}']
)
def test_odd_files(path, text):
    (path / "manifest.json").write_text(text)
    with pytest.raises(DamagedCheckpointError):
        verify(str(path))


def test_a_manifest_that_is_a_folder(path):
    (path / "manifest.json").unlink()
    (path / "manifest.json").mkdir()
    with pytest.raises(DamagedCheckpointError, match="not a regular file"):
        verify(str(path))


def test_an_array_that_is_not_there(path):
    content = content_of(path)
    content["nodes"][1]["entries"][0]["name"] = "other"
    write(path, content)
    entry = next(entry for entry in list_arrays(str(path)) if entry.name == "other")
    with pytest.raises(DamagedCheckpointError, match="other"):
        read_array(str(path), entry)
