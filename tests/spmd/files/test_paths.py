"""One kind of path for this machine and for stores."""

from pathlib import Path

from spmd.files import StorePath, matching, path_of, reads


def test_a_path_is_that_of_the_machine_or_a_url(tmp_path, bucket):
    for folder in (tmp_path, bucket):
        path = path_of(folder)
        path.joinpath("a.txt").write_text("one")
        assert isinstance(path, StorePath if folder == bucket else Path)
        assert [each.name for each in path.iterdir()] == ["a.txt"]
        assert matching(f"{folder}/*.txt") == [f"{folder}/a.txt"]
        with reads(f"{folder}/a.txt") as file:
            assert file.read() == b"one"
