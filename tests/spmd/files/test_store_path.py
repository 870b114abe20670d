"""Files and folders of a store have the methods of those of a disk."""

import pytest

from spmd.files import StorePath


@pytest.fixture
def folder(bucket) -> StorePath:
    folder = StorePath(bucket) / "data"
    for name in ("b.txt", "a.txt", "more/c.bin"):
        (folder / name).write_text(name)
    return folder


def test_what_is_there(folder):
    assert (folder.exists(), folder.is_dir(), folder.is_file()) == (True, True, False)
    file = folder / "a.txt"
    assert (file.exists(), file.is_dir(), file.is_file()) == (True, False, True)
    assert (file.stat().length, file.stat().is_directory, file.name) == (5, False, "a.txt")
    assert file.parent == folder
    assert not (folder / "none").exists()
    with pytest.raises(FileNotFoundError):
        (folder / "none").read_bytes()
    with pytest.raises(FileNotFoundError):
        list((folder / "none").iterdir())


def test_lists(folder):
    assert [each.name for each in folder.iterdir()] == ["a.txt", "b.txt", "more"]
    assert folder.files() == {"a.txt": 5, "b.txt": 5, "more/c.bin": 10}
    assert [each.url for each in (folder / "*.txt").matches()] == [
        f"{folder}/a.txt",
        f"{folder}/b.txt",
    ]
    inner = (f"{folder}/more", [], ["c.bin"])
    outer = (folder.url, ["more"], ["a.txt", "b.txt"])
    assert list(folder.walk()) == [outer, inner]
    assert list(folder.walk(top_down=False)) == [inner, outer]


def test_files_come_and_go(folder, tmp_path):
    (folder / "a.txt").replace(folder / "d.txt")
    (folder / "d.txt").download(str(tmp_path / "d"))
    assert (tmp_path / "d").read_text() == "a.txt"
    (folder / "new/e").upload(str(tmp_path / "d"))
    (folder / "new/e").copy(folder / "new/f")
    (folder / "new/f").copy(tmp_path / "f")
    assert (tmp_path / "f").read_text() == (folder / "new/f").read_text() == "a.txt"
    (folder / "more/c.bin").unlink()
    (folder / "b.txt").unlink()
    assert set(folder.files()) == {"d.txt", "new/e", "new/f"}
    folder.rmtree()
    assert not folder.exists()


def test_folders_are_made_where_there_are_folders(bucket):
    folder = StorePath(bucket) / "made"
    folder.mkdir(parents=True)
    folder.mkdir(exist_ok=True)
    assert folder.is_dir()
    with pytest.raises(FileExistsError):
        folder.mkdir()


def test_slashes_at_the_end_do_not_count():
    assert StorePath("memory://a/b//") == StorePath("memory://a/b")
    assert StorePath("memory://").url == "memory://"
    assert (StorePath("memory://a/") / "b/").url == "memory://a/b"
