"""`tfds.load` in scripts that import this `tf`, on the digits of examples/data and a set made here."""

import io
import json
import shutil
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow_datasets as tfds
from PIL import Image

from frontends import tf
from spmd.input.pipeline.crc32c import masked_crc32c as checksum

DATA = Path(__file__).resolve().parents[3] / "examples" / "data"


@pytest.mark.parametrize("first", ["from frontends import tf", "import tensorflow_datasets"])
def test_either_may_be_imported_first(first, run_python):
    script = (
        f"{first}\nimport sys\nfrom frontends import tf\n"
        "import importlib.util; importlib.util.find_spec('tensorflow_datasets')\n"
        "import tensorflow_datasets as tfds\n"
        f"data = tfds.load('mnist', split='test[:3]', data_dir={str(DATA)!r}, as_supervised=True)\n"
        "print(isinstance(data, tf.data.Dataset), len(data), 'tensorflow' in sys.modules)"
    )
    assert run_python("-c", script).stdout == "True 3 False\n"


def test_all_splits_with_info():
    datasets, info = tfds.load("mnist", with_info=True, as_supervised=True, data_dir=DATA)
    assert sorted(datasets) == ["test", "train"]
    assert len(datasets["train"]) == info.splits["train"].num_examples == 6000
    image, label = next(iter(datasets["test"]))
    source = tfds.data_source("mnist", split="test", data_dir=DATA)
    np.testing.assert_array_equal(image, source[0]["image"])
    assert (image.shape, image.dtype, label) == ((28, 28, 1), np.uint8, source[0]["label"])


def test_rows_come_in_order_and_again():
    source = tfds.data_source("mnist", split="test[:70]", data_dir=DATA)
    dataset = tfds.load("mnist", split="test[:70]", data_dir=DATA)
    for _ in range(2):
        rows = list(dataset)
        assert [row["label"] for row in rows] == [row["label"] for row in source]
    assert sorted(rows[0]) == ["image", "label"]


def test_splits_and_batches():
    first, rest = tfds.load("mnist", split=["test[:4]", "test[4:9]"], batch_size=3, data_dir=DATA)
    assert [len(batch["label"]) for batch in first] == [3, 1]
    assert [len(batch["label"]) for batch in rest] == [3, 2]
    images, labels = tfds.load(
        "mnist",
        split=tfds.Split.TEST,
        data_dir=DATA,
        as_dataset_kwargs={"as_supervised": True, "batch_size": -1},
    )
    assert (images.shape, labels.shape) == ((1000, 28, 28, 1), (1000,))


def test_decoders():
    dataset = tfds.load(
        "mnist",
        split="test[:1]",
        data_dir=DATA,
        decoders={"image": tfds.decode.SkipDecoding()},
        # A tfds.ReadConfig cannot be made without TensorFlow.
        read_config=SimpleNamespace(try_autocache=False),
    )
    [row] = dataset
    assert Image.open(io.BytesIO(row["image"])).size == (28, 28)


class Photos(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """JPEG files of several sizes."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self, features=tfds.features.FeaturesDict({"image": tfds.features.Image()})
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for index in range(3):
            file = io.BytesIO()
            Image.new("RGB", (20 + index, 30), (index * 100, 0, 0)).save(file, "jpeg")
            file.seek(0)
            yield index, {"image": file}


@pytest.fixture
def prepared(monkeypatch):
    monkeypatch.setattr(tfds, "builder", lambda name, **kwargs: Photos(**without_gcs(kwargs)))


def without_gcs(kwargs):
    return {key: value for key, value in kwargs.items() if key != "try_gcs"}


@pytest.mark.usefixtures("prepared")
def test_what_is_not_there_is_prepared_without_tensorflow(tmp_path):
    dataset = tfds.load("photos", split="train", data_dir=tmp_path)
    sizes = {row["image"].shape for row in dataset}
    assert sizes == {(30, 20, 3), (30, 21, 3), (30, 22, 3)}
    assert "tensorflow" not in sys.modules
    batches = dataset.map(lambda row: tf.image.resize(row["image"], [8, 8])).batch(2)
    assert [batch.shape for batch in batches] == [(2, 8, 8, 3), (1, 8, 8, 3)]


@pytest.mark.usefixtures("prepared")
def test_labels_that_a_data_set_does_not_name(tmp_path):
    with pytest.raises(ValueError, match=r"photos/1.0.0 has no supervised_keys.*\['image'\]"):
        tfds.load("photos", split="train", data_dir=tmp_path, as_supervised=True)


def as_tfrecord(record):
    length = struct.pack("<Q", len(record))
    parts = (length, checksum(length), record, checksum(record))
    return b"".join(part if isinstance(part, bytes) else struct.pack("<I", part) for part in parts)


def test_files_of_tfrecords(tmp_path):
    """What TensorFlow Datasets prepares with TensorFlow; written here record by record."""
    made = tmp_path / "mnist" / "3.0.1"
    shutil.copytree(
        DATA / "mnist" / "3.0.1", made, ignore=shutil.ignore_patterns("*.array_record*")
    )
    info = json.loads((made / "dataset_info.json").read_text())
    info["fileFormat"] = "tfrecord"
    (made / "dataset_info.json").write_text(json.dumps(info))
    source = tfds.builder("mnist", data_dir=DATA).as_data_source(
        split="test", deserialize_method=tfds.decode.DeserializeMethod.RAW_BYTES
    )
    with (made / "mnist-test.tfrecord-00000-of-00001").open("wb") as file:
        for index in range(len(source)):
            file.write(as_tfrecord(source[index]))
    expected = [row["label"] for row in tfds.load("mnist", split="test[5:9]", data_dir=DATA)]
    dataset = tfds.load("mnist", split="test[5:9]", data_dir=tmp_path, as_supervised=True)
    assert [label for _, label in dataset] == expected
    assert len(dataset) == 4


def test_as_numpy():
    dataset = tfds.load("mnist", split="test[:5]", data_dir=DATA, as_supervised=True)
    loaded = tfds.as_numpy({"test": dataset, "row": tf.constant([1.0])})
    assert isinstance(loaded["row"], np.ndarray)
    assert len(loaded["test"]) == 5
    for _ in range(2):
        for image, label in loaded["test"]:
            assert isinstance(image, np.ndarray)
            assert isinstance(label, np.integer)
    with pytest.raises(TypeError, match="takes datasets and tensors, but got a str"):
        tfds.as_numpy("test")


class Numbers(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """Sixty numbers."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features.FeaturesDict({"x": np.int64})
        return tfds.core.DatasetInfo(builder=self, features=features)

    def _split_generators(self, dl_manager):
        return {"train": ((index, {"x": index}) for index in range(60))}

    def _generate_examples(self):
        raise AssertionError


def numbers(monkeypatch, folder, shards, split="train", **config):
    """Reads the numbers twice, from shuffled files."""
    monkeypatch.setattr(tfds, "builder", lambda name, **kwargs: Numbers(**without_gcs(kwargs)))
    dataset = tfds.load(
        "numbers",
        split=split,
        data_dir=folder,
        shuffle_files=True,
        read_config=SimpleNamespace(**config),
        download_and_prepare_kwargs={
            "download_config": tfds.download.DownloadConfig(num_shards=shards)
        },
    )
    assert len(dataset) == len(list(dataset))
    return [[int(row["x"]) for row in dataset] for _ in range(2)]


def test_files_that_are_shuffled_come_in_another_order_in_every_pass(monkeypatch, tmp_path):
    # So many files that no two passes have the same order by chance.
    first, second = numbers(monkeypatch, tmp_path, 20)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(60))
    fixed, again = numbers(
        monkeypatch, tmp_path, 20, shuffle_seed=1, shuffle_reshuffle_each_iteration=False
    )
    assert fixed == again
    part, _ = numbers(monkeypatch, tmp_path, 20, split="train[5:50]")
    source = Numbers(data_dir=tmp_path, file_format="array_record").as_data_source("train[5:50]")
    assert sorted(part) == sorted(int(row["x"]) for row in source)


def test_one_file_stays_in_its_order(monkeypatch, tmp_path):
    first, second = numbers(monkeypatch, tmp_path, 1)
    assert first == second
