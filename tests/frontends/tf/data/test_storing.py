"""`Dataset.save`, `load`, `snapshot` and caches in files: what the recorded cases (tests/golden, records) leave out."""

import numpy as np
import pytest

from frontends.tf.data import Dataset


def test_cardinality_and_specs_come_back(tmp_path):
    dataset = Dataset.from_tensor_slices({"x": np.zeros((4, 2), np.float32)})
    dataset.save(tmp_path / "saved")
    loaded = Dataset.load(tmp_path / "saved")
    assert len(loaded) == 4
    assert loaded.element_spec == dataset.element_spec


def test_a_snapshot_is_computed_once(tmp_path):
    calls = []

    def generate():
        calls.append(1)
        yield from range(5)

    for _ in range(2):  # as in two runs
        dataset = Dataset.from_generator(generate).snapshot(tmp_path / "snapshot")
        assert len(list(dataset.take(2))) == 2 or calls
        for _ in range(2):
            assert [int(x) for x in dataset] == [0, 1, 2, 3, 4]
    assert len(calls) == 2  # the pass that was given up, and the first whole one


def test_a_cache_in_files(tmp_path):
    calls = []

    def generate():
        calls.append(1)
        yield from range(3)

    for _ in range(2):
        dataset = Dataset.from_generator(generate).cache(str(tmp_path / "cache"))
        assert [int(x) for x in dataset] == [0, 1, 2]
    assert len(calls) == 1


def test_what_is_not_supported(tmp_path):
    with pytest.raises(ValueError, match="compression must be"):
        Dataset.range(2).save(tmp_path / "saved", compression="ZLIB")
    with pytest.raises(ValueError, match="wait=True"):
        Dataset.load(tmp_path / "saved", wait=True)
