"""Summaries by TensorFlow 1's names."""

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from frontends import tf
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def test_in_a_model_function_summaries_are_collected_and_merged():
    with Graph().as_default():
        assert v1.summary.merge_all() is None
        loss = v1.summary.scalar("loss", 0.5, family="train")
        values = v1.summary.histogram("values", [1.0, 2.0])
        images = v1.summary.image("images", np.zeros((5, 2, 2, 3), np.float32))
        words = v1.summary.text("words", "some", collections=["others"])
        assert [one.name for one in (loss, values, images, words)] == [
            "train/train/loss",
            "values",
            "images",
            "words",
        ]
        assert [one.kind for one in v1.summary.merge_all()] == ["scalar", "histogram", "image"]
        assert images.tensor.shape == (3, 2, 2, 3)
        assert v1.summary.merge_all("others") == [words]
        assert v1.summary.merge([loss, [words]]) == [loss, words]


def test_elsewhere_they_are_written_as_those_of_tf_summary(tmp_path):
    assert not v1.summary.scalar("loss", 0.5)  # there is no writer
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default(step=2), tf.name_scope("a"):
        assert v1.summary.scalar("loss", 0.5)
        assert v1.summary.scalar("loss", 0.5, family="b")
        assert v1.summary.text("words", "some")
        assert v1.summary.histogram("values", [1.0])
        assert v1.summary.image("images", np.zeros((1, 2, 2, 3), np.float32))
    writer.close()
    tags = _read(tmp_path).Tags()["tensors"]
    assert sorted(tags) == ["a/b/loss", "a/images", "a/loss", "a/values", "a/words"]


def test_a_file_writer_appends_protocol_buffers(tmp_path):
    summary = v1.Summary(value=[v1.Summary.Value(tag="loss", simple_value=0.5)])
    with v1.summary.FileWriter(tmp_path, filename_suffix=".mine") as writer:
        writer.add_summary(summary, 3)
        writer.add_summary(summary.SerializeToString(), tf.Variable(4))
        writer.add_event(v1.Event(step=5, summary=summary))
        writer.add_graph(None)
        writer.flush()
        assert writer.get_logdir() == str(tmp_path)
        assert [one.step for one in _read(tmp_path).Scalars("loss")] == [3, 4, 5]
        with pytest.raises(TypeError, match=r"takes a tf.Summary or its bytes, got float"):
            writer.add_summary(0.5)
    assert next(tmp_path.iterdir()).name.endswith(".mine")
    with pytest.raises(RuntimeError, match="closed"):
        writer.add_summary(summary)


def test_unknown_names_are_explained():
    with pytest.raises(AttributeError, match=r"tf\.compat\.v1\.summary\.scaler .*scalar"):
        v1.summary.scaler  # noqa: B018


def _read(folder):
    events = EventAccumulator(str(folder))
    events.Reload()
    return events
