"""Waiting for checkpoints that another process writes."""

import sys

import pytest

from frontends import tf

# In `tf.train`, the name is that of the function.
MODULE = tf.train.checkpoints_iterator.__module__


@pytest.fixture
def manager(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[MODULE], "_POLL_SECONDS", 0.01)
    return tf.train.CheckpointManager(tf.train.Checkpoint(step=tf.Variable(0)), tmp_path / "ck", 3)


def test_new_checkpoints_are_yielded_once(manager, tmp_path):
    found = tf.train.checkpoints_iterator(tmp_path / "ck", timeout=0.05)
    paths = []
    manager.save()
    paths.append(next(found))
    manager.save()
    manager.save()  # nobody asked for the one before
    paths.append(next(found))
    assert [path.rpartition("-")[2] for path in paths] == ["1", "3"]
    assert next(found, None) is None


def test_a_function_decides_whether_the_time_is_over(tmp_path, manager):
    asked = []

    def is_over():
        asked.append(1)
        return len(asked) == 3

    assert list(tf.train.checkpoints_iterator(tmp_path / "ck", 0, 0.0, is_over)) == []
    assert len(asked) == 3
