"""What training scripts do with files: make folders, look, copy, clean up."""

import pytest

from frontends import tf

gfile = tf.io.gfile


def test_folders_come_and_go(tmp_path):
    folder = gfile.join(str(tmp_path), "a", "b")
    gfile.makedirs(folder)
    gfile.makedirs(folder)
    assert gfile.isdir(folder)
    with pytest.raises(FileExistsError):
        gfile.mkdir(folder)
    gfile.rmtree(str(tmp_path / "a"))
    assert not gfile.exists(folder)
    with pytest.raises(tf.errors.NotFoundError):
        gfile.listdir(folder)


def test_files_are_written_copied_moved_and_found(tmp_path):
    first, second, third = (str(tmp_path / name) for name in ("b.txt", "a.txt", "c.bin"))
    with gfile.GFile(first, "w") as file:
        file.write("text")
    gfile.copy(first, second)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        gfile.copy(first, second)
    gfile.copy(first, second, overwrite=True)
    gfile.rename(first, third)
    assert gfile.listdir(tmp_path) == ["a.txt", "c.bin"]
    assert gfile.glob(str(tmp_path / "*.txt")) == [second]
    assert gfile.glob([str(tmp_path / "*.bin"), str(tmp_path / "*.txt")]) == [third, second]
    assert gfile.stat(second).length == 4
    for top in (str(tmp_path), f"file://{tmp_path}"):
        ((_, _, names),) = gfile.walk(top)
        assert sorted(names) == ["a.txt", "c.bin"]
    gfile.remove(third)
    with pytest.raises(tf.errors.NotFoundError):
        gfile.remove(third)


def test_relative_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gfile.makedirs("data")
    with gfile.GFile("data/1.txt", "w") as file:
        file.write("1")
    assert gfile.glob("data/*.txt") == ["data/1.txt"]


def test_other_names_say_what_to_use():
    with pytest.raises(AttributeError, match=r"tf\.saved_model\.save"):
        tf.io.write_graph  # noqa: B018


def test_its_names_are_listed():
    names = dir(gfile)
    assert {"GFile", "exists", "walk"} <= set(names)
    assert not {"os", "epath", "attributes", "_make_way"} & set(names)


def test_paths_may_be_bytes(tmp_path):
    assert gfile.exists(bytes(tmp_path))
    assert not gfile.exists(bytes(tmp_path / "no"))


def test_a_url_works_like_a_folder(bucket, tmp_path):
    folder = f"{bucket}/data"
    with gfile.GFile(f"{folder}/a.txt", "w") as file:
        file.write("text")
    with gfile.GFile(f"{folder}/more/b.bin", "wb") as file:
        file.write("text")
    assert gfile.listdir(f"{folder}/") == ["a.txt", "more"]
    assert gfile.glob(f"{folder}/*.txt") == [f"{folder}/a.txt"]
    assert (gfile.isdir(folder), gfile.exists(f"{folder}/none")) == (True, False)
    assert gfile.stat(f"{folder}/a.txt").length == 4
    assert list(gfile.walk(folder)) == [
        (folder, ["more"], ["a.txt"]),
        (f"{folder}/more", [], ["b.bin"]),
    ]
    with gfile.GFile(f"{folder}/a.txt") as file:
        assert file.read() == "text"
    with pytest.raises(tf.errors.NotFoundError):
        gfile.listdir(f"{folder}/none")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.remove(f"{folder}/none")
    gfile.rmtree(folder)
    assert not gfile.exists(folder)


def test_files_are_copied_and_moved_between_a_store_and_a_disk(bucket, tmp_path):
    local, there, other = str(tmp_path / "a"), f"{bucket}/a", f"{bucket}/b/c"
    with gfile.GFile(local, "w") as file:
        file.write("text")
    gfile.copy(local, there)
    gfile.copy(there, other)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        gfile.copy(local, other)
    gfile.rename(there, str(tmp_path / "d"))
    gfile.rename(local, there)
    gfile.rename(other, f"{bucket}/e")
    assert sorted(gfile.listdir(bucket)) in (
        ["a", "e"],
        ["a", "b", "e"],
    )  # an empty folder may stay
    assert gfile.listdir(tmp_path) == ["d"]
    assert (tmp_path / "d").read_text() == "text"
