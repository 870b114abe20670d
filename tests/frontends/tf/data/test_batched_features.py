"""`make_batched_features_dataset`: what the recorded cases (tests/golden, records) leave out."""

import pytest

from frontends import tf
from tests.frontends.tf.io.test_wire import example

SPEC = {"n": tf.io.FixedLenFeature([], tf.int64), "v": tf.io.VarLenFeature(tf.int64)}


@pytest.fixture
def files(tmp_path):
    for name in range(3):
        with tf.io.TFRecordWriter(tmp_path / f"{name}.tfrecord", "GZIP") as writer:
            for i in range(4):
                writer.write(example(n=[4 * name + i], v=[1] * (i + 1)))
    return str(tmp_path / "*.tfrecord")


def test_files_are_shuffled_and_compressed(files):
    make = tf.data.experimental.make_batched_features_dataset
    dataset = make(
        files,
        4,
        SPEC,
        reader_args=["GZIP"],
        label_key="n",
        num_epochs=1,
        shuffle_seed=1,
        reader_num_threads=3,
    )
    batches = list(dataset)
    labels = [int(n) for _, label in batches for n in label]
    assert sorted(labels) == list(range(12))
    assert labels != sorted(labels)
    for features, label in batches:
        counts = (tf.sparse.to_dense(features["v"]).numpy() > 0).sum(axis=1)
        assert counts.tolist() == [int(n) % 4 + 1 for n in label]


def test_no_file(tmp_path):
    with pytest.raises(ValueError, match="No files match"):
        tf.data.experimental.make_batched_features_dataset(str(tmp_path / "*"), 2, SPEC)
