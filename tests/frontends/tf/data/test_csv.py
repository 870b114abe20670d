"""Files of CSV: what the recorded cases (tests/golden, records) leave out."""

import gzip

import pytest

from frontends.tf.data.csv import make_csv_dataset


def test_files_in_turns_and_shuffled(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}[1].csv").write_text("n\n" + "".join(f"{i}\n" for i in range(20)))
    dataset = make_csv_dataset(
        [str(tmp_path / "*.csv")], 60, num_epochs=1, shuffle_seed=1, num_parallel_reads=2
    )
    (batch,) = dataset
    assert sorted(batch["n"].tolist()) == sorted(list(range(20)) * 3)
    assert batch["n"].tolist() != sorted(batch["n"].tolist())
    (again,) = dataset
    assert again["n"].tolist() != batch["n"].tolist()


def test_compressed(tmp_path):
    (tmp_path / "a.csv").write_bytes(gzip.compress(b"x,y\n1,a\n"))
    kwargs = {"compression_type": "GZIP", "num_epochs": 1}
    (batch,) = make_csv_dataset(str(tmp_path / "a.csv"), 1, **kwargs)
    assert (batch["x"].tolist(), batch["y"].tolist()) == ([1], [b"a"])


def test_types_are_the_narrowest_that_fit(tmp_path):
    (tmp_path / "a.csv").write_text("i,f,s,none\n1,0.5,1,\n2,7,x,\n")
    kwargs = {"num_epochs": 1, "shuffle": False}
    (batch,) = make_csv_dataset(str(tmp_path / "a.csv"), 2, **kwargs)
    kinds = {key: value.dtype.name for key, value in batch.items()}
    expected = {"i": "int32", "f": "float32", "s": "string", "none": "int32"}
    assert kinds == expected


def test_integers_of_64_bits_that_do_not_fit(tmp_path):
    (tmp_path / "a.csv").write_text(f"n\n{2**40}\n")
    with pytest.raises(OverflowError, match="do not fit"):
        next(iter(make_csv_dataset(str(tmp_path / "a.csv"), 1, num_epochs=1)))


def test_a_model_is_fit(tmp_path):
    rows = "".join(f"{i / 10},{i % 2}\n" for i in range(20))
    (tmp_path / "a.csv").write_text("x,y\n" + rows)
    dataset = make_csv_dataset(str(tmp_path / "a.csv"), 5, label_name="y", num_epochs=2)
    seen = [(features["x"].shape, label.shape) for features, label in dataset]
    assert seen == [((5,), (5,))] * 8


def test_no_header_and_no_names(tmp_path):
    (tmp_path / "a.csv").touch()
    with pytest.raises(ValueError, match="is empty, so it has no header"):
        make_csv_dataset(str(tmp_path / "a.csv"), 2)
