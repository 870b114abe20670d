"""Files and folders of a store have the methods of those of a disk."""

import time
from typing import ClassVar

import fsspec
import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import _registry

from spmd.files import StorePath, store_path


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


def test_a_walk_is_one_request_for_each_folder(folder, monkeypatch):
    def refuse(self, path, **options):
        raise AssertionError(path)

    monkeypatch.setattr(MemoryFileSystem, "info", refuse)
    assert [names for _, _, names in folder.walk()] == [["a.txt", "b.txt"], ["c.bin"]]


class WithHosts(MemoryFileSystem):
    """Drops the host of a URL, as adlfs does: `hosts://folder@account.host/a` is `/folder/a`."""

    protocol = "hosts"
    store: ClassVar[dict] = {}
    pseudo_dirs: ClassVar[list] = [""]

    @classmethod
    def _strip_protocol(cls, path):
        folder, _, rest = path.removeprefix("hosts://").partition("/")
        return super()._strip_protocol(f"/{folder.partition('@')[0]}/{rest}")


@pytest.fixture
def hosts():
    fsspec.register_implementation("hosts", WithHosts)
    yield
    _registry.pop("hosts")
    WithHosts.store.clear()
    WithHosts.pseudo_dirs[:] = [""]


@pytest.mark.usefixtures("hosts")
def test_what_matches_is_named_as_the_pattern_is():
    folder = StorePath("hosts://folder@account.host/runs")
    for name in ("a.txt", "b.bin"):
        (folder / name).write_text(name)
    (found,) = (folder / "*.txt").matches()
    assert found == folder / "a.txt"
    assert found.read_text() == "a.txt"
    assert StorePath(f"{folder.parent}/r*").matches() == [folder]


def test_a_time_may_be_asked_for_by_itself(folder, monkeypatch):
    """Some file systems do not list it, or under a name of their own."""
    info = MemoryFileSystem.info

    def without(self, path, **options):
        return {key: value for key, value in info(self, path).items() if key != "created"}

    monkeypatch.setattr(MemoryFileSystem, "info", without)
    assert time.time() - 100 < (folder / "a.txt").stat().mtime < time.time() + 1
    monkeypatch.setattr(MemoryFileSystem, "modified", AbstractFileSystem.modified)
    assert (folder / "a.txt").stat().mtime == 0


def test_all_buckets_match(bucket):
    StorePath(bucket).joinpath("a").write_text("a")
    assert StorePath(bucket) in StorePath("memory://*").matches()


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


@pytest.fixture(params=["folders", "no folders"])
def kind(request, monkeypatch):
    """Stores of both kinds; the one in memory has folders."""
    if request.param == "no folders":
        monkeypatch.setattr(store_path, "has_folders", lambda url: url.startswith("local:"))


@pytest.mark.usefixtures("kind")
def test_names_are_no_patterns(bucket):
    for name in ("run[1]", "run1"):
        (StorePath(bucket) / name / "a").write_text(name)
    one, other = StorePath(bucket) / "run[1]", StorePath(bucket) / "run1"
    assert [each.url for each in one.glob("*")] == [f"{one}/a"]
    one.replace(StorePath(bucket) / "moved[1]")
    assert (StorePath(bucket) / "moved[1]/a").read_text() == "run[1]"
    (StorePath(bucket) / "moved[1]").rmtree()
    assert not (StorePath(bucket) / "moved[1]").exists()
    assert other.files() == {"a": 4}


@pytest.mark.usefixtures("kind")
def test_nothing_is_lost_by_a_move_onto_itself_or_into_itself(folder):
    before = folder.files()
    folder.replace(StorePath(f"{folder}/"))
    with pytest.raises(ValueError, match="another folder"):
        folder.replace(folder / "more")
    assert folder.files() == before


@pytest.mark.usefixtures("kind")
def test_moves_go_to_other_stores(folder, tmp_path):
    before = folder.files()
    target = StorePath(f"local://{tmp_path}/moved")
    folder.replace(target)
    assert target.files() == before
    assert not folder.exists()


def test_a_copy_that_fails_leaves_the_target(folder, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("former")

    def breaks(system, path, file):
        with open(file, "w") as part:
            part.write("ha")
        raise ConnectionError("lost")

    monkeypatch.setattr(MemoryFileSystem, "get_file", breaks)
    for target in (tmp_path / "a.txt", f"local://{tmp_path}/a.txt"):
        with pytest.raises(OSError, match="lost"):
            (folder / "a.txt").copy(target)
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "former"


def test_where_files_are_not_put_whole_they_are_renamed(tmp_path, monkeypatch):
    file = StorePath(f"local://{tmp_path}/a.txt")
    file.write_text("former")

    def full(system, path, content):
        with open(path, "wb") as part:
            part.write(content[:1])
        raise OSError("No space left on device")

    monkeypatch.setattr(LocalFileSystem, "pipe_file", full)
    with pytest.raises(OSError, match="No space"):
        file.write_text("other")
    assert file.read_text() == "former"
