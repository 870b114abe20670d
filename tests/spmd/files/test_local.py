"""What is written here is copied to a store when it is complete, and what is there is copied here."""

from pathlib import Path

import pytest

from spmd.files import StorePath, read_here, written_here


def test_a_path_of_this_machine_is_used_as_it_is(tmp_path):
    for here in (written_here, read_here):
        with here(tmp_path / "a") as path:
            assert path == str(tmp_path / "a")


def test_a_folder_goes_there_and_back(bucket):
    with written_here(f"{bucket}/folder") as path:
        Path(path, "inner").mkdir(parents=True)
        Path(path, "inner/a").write_text("one")
        assert not StorePath(bucket).joinpath("folder").exists()
    assert StorePath(bucket).files() == {"folder/inner/a": 3}
    with read_here(f"{bucket}/folder") as copy:
        assert Path(copy, "inner/a").read_text() == "one"
    assert not Path(copy).exists()


def test_what_fails_leaves_nothing(bucket):

    def fail() -> None:
        with written_here(f"{bucket}/a") as path:
            Path(path).write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not StorePath(bucket).exists()
    with pytest.raises(FileNotFoundError), read_here(f"{bucket}/a"):
        pass
