"""Each process reads files of its own, if it is told to, however the pipeline finds them."""

import pytest

from frontends.tf.data import Dataset, TextLineDataset
from spmd.input.pipeline import FileShard


@pytest.fixture
def files(tmp_path):
    """Four files of two lines."""
    paths = [tmp_path / f"{name}.txt" for name in "abcd"]
    for path in paths:
        path.write_text(f"{path.stem}1\n{path.stem}2\n")
    return [str(path) for path in paths]


def listed(files):
    return Dataset.list_files(files, shuffle=False)


@pytest.mark.parametrize(
    "make",
    [
        TextLineDataset,
        lambda files: TextLineDataset(listed(files)),
        lambda files: listed(files).interleave(TextLineDataset, cycle_length=1),
        lambda files: listed(files).flat_map(TextLineDataset).shuffle(1),
        lambda files: TextLineDataset(files).batch(2).unbatch().prefetch(1),
    ],
)
def test_a_part_of_the_files(make, files):
    dataset = make(files)
    with FileShard(2, 1).in_force():
        assert list(dataset) == [b"b1", b"b2", b"d1", b"d2"]
    assert len(list(dataset)) == 8


def test_all_parts_share_one_shuffled_order(files):
    dataset = Dataset.list_files(files, seed=3)
    position = dataset.position()
    parts = []
    for index in range(3):
        with FileShard(3, index).in_force():
            parts.append([str(name) for name in dataset.resumed_at(position, 0)])
    assert sorted(name for part in parts for name in part) == files
    assert [len(part) for part in parts] == [2, 1, 1]


def test_a_dataset_without_files_divides_nothing():
    shard = FileShard(2, 0)
    with shard.in_force():
        assert len(list(Dataset.range(3))) == 3
    assert not shard.used
