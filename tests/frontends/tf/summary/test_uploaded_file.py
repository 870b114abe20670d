"""Event files in a store: complete when they are closed, and copied there now and then before."""

import logging

import pytest

from frontends import tf
from frontends.tf.summary import uploaded_file
from frontends.tf.summary.uploaded_file import UploadedFile
from spmd.files import StoreError, StorePath


def test_it_is_there_when_it_is_closed(bucket):
    file = UploadedFile(f"{bucket}/events")
    target = StorePath(f"{bucket}/events")
    assert target.read_bytes() == b""
    file.write(b"one")
    file.flush()
    assert target.read_bytes() == b""  # not due
    file.close()
    file.close()
    assert target.read_bytes() == b"one"


def test_a_flush_puts_it_there_when_it_is_due(bucket, monkeypatch, caplog):
    monkeypatch.setattr(uploaded_file, "_SECONDS", 0.0)
    file = UploadedFile(f"{bucket}/events")
    file.write(b"one")
    file.flush()
    file._thread.join()
    assert StorePath(f"{bucket}/events").read_bytes() == b"one"

    def refuse(self, content):
        raise StoreError("403")

    with monkeypatch.context() as patched:
        patched.setattr(StorePath, "write_bytes", refuse)
        with caplog.at_level(logging.WARNING):
            file.flush()
            file._thread.join()
    assert caplog.messages == ["Summaries are not in the store yet: 403"]
    file.close()


def test_summaries_are_read_from_a_store(bucket):
    writer = tf.summary.create_file_writer(f"{bucket}/logs")
    with writer.as_default():
        tf.summary.scalar("loss", 0.5, step=3)
    writer.close()
    (path,) = tf.io.gfile.glob(f"{bucket}/logs/*")
    steps = [
        event.step for event in tf.compat.v1.train.summary_iterator(path) if event.summary.value
    ]
    assert steps == [3]


def test_a_url_of_nothing_is_refused_at_once():
    with pytest.raises(ValueError, match="got nothing://logs"):
        tf.summary.create_file_writer("nothing://logs")
