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
        file.write(b"two")
        with caplog.at_level(logging.WARNING):
            file.flush()
            file._thread.join()
    assert caplog.messages == ["Summaries are not in the store yet: 403"]
    file.put()
    assert StorePath(f"{bucket}/events").read_bytes() == b"onetwo"
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


FOLDER = """
import os, sys, threading
from concurrent.futures import ThreadPoolExecutor
import fsspec
from fsspec.implementations.local import LocalFileSystem

class Store(LocalFileSystem):
    # A store that outlives the process, and works while thread pools do.
    protocol = "folder"

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(str(path).removeprefix("folder://"))

    def pipe_file(self, path, value, **options):
        return pool.submit(super().pipe_file, path, value, **options).result()

fsspec.register_implementation("folder", Store)
pool = ThreadPoolExecutor(1)
pool.submit(os.getpid).result()  # Python 3.12.0 to 3.12.2 start no thread at the end
from frontends import tf
writer = tf.summary.create_file_writer("folder://" + sys.argv[1])
writer.set_as_default()
"""


def steps_in(folder) -> list[int]:
    (path,) = folder.glob("events*")
    events = tf.compat.v1.train.summary_iterator(str(path))
    return [event.step for event in events if event.summary.value]


@pytest.mark.parametrize(
    "rest",
    [
        'tf.summary.scalar("loss", 0.5, step=7)',
        'tf.summary.scalar("loss", 0.5, step=7); raise SystemExit(0)',
        # A fork leaves the file of its parent alone.
        'if os.fork() == 0: sys.exit()\nos.wait()\ntf.summary.scalar("loss", 0.5, step=7)',
        'tf.summary.scalar("loss", 0.5, step=7); writer.close()',
        'tf.summary.scalar("loss", 0.5, step=7); writer.flush(); os._exit(0)',
    ],
)
def test_what_is_written_is_there_when_the_script_ends(run_python, tmp_path, rest):
    run_python("-W", "ignore", "-c", FOLDER + rest, tmp_path / "logs")
    assert steps_in(tmp_path / "logs") == [7]
