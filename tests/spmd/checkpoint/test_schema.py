"""Odd manifests are refused by one kind of error, and lead to no file outside of the checkpoint."""

import os
from pathlib import Path

import pytest

from spmd.checkpoint import DamagedCheckpointError, read_array, verify
from spmd.checkpoint.manifest import read_manifest
from spmd.checkpoint.reading import list_arrays
from tests.benchmarks.fuzz.manifests import content_of, objects, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    checkpoint = objects()
    made = checkpoint.save(tmp_path / "ckpt", notes={"step": 1})
    checkpoint.wait()
    return Path(made)


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
