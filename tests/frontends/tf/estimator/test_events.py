"""What estimators write for TensorBoard: numbers, arrays and texts, in one file for each folder."""

import logging
import os

import numpy as np
import pytest
from tensorboard.util import tensor_util

from frontends import tf
from frontends.tf.compat.v1 import summary
from frontends.tf.estimator import events
from frontends.tf.estimator.events import event_writer, write_values


def test_values_of_steps_are_in_one_file(tmp_path):
    for step in (1, 2):
        write_values(
            event_writer(tmp_path),
            {"loss": np.float32(step), "path": "a", "both": np.ones(2)},
            step,
        )
    event_writer(tmp_path).flush()
    (file,) = os.listdir(tmp_path)
    found = [
        (event.step, value.tag, value)
        for event in tf.compat.v1.train.summary_iterator(tmp_path / file)
        for value in event.summary.value
    ]
    assert [(step, tag) for step, tag, _ in found] == [
        (step, tag) for step in (1, 2) for tag in ("loss", "path", "both")
    ]
    assert [value.simple_value for _, tag, value in found if tag == "loss"] == [1, 2]
    texts = [tensor_util.make_ndarray(one.tensor) for _, tag, one in found if tag == "path"]
    assert texts == [b"a", b"a"]


def test_without_tensorboard_a_warning_says_so_once(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.WARNING, "tensorflow")
    monkeypatch.setattr(events, "_warned", set())

    def get(folder):
        raise ImportError("install tensorboard")

    monkeypatch.setattr(summary.FileWriterCache, "get", get)
    for step in range(2):
        write_values(event_writer(tmp_path), {"loss": 1.0}, step)
    assert caplog.text.count("Nothing is written for TensorBoard: install tensorboard") == 1


@pytest.fixture(autouse=True)
def _cleared():
    yield
    summary.FileWriterCache.clear()
