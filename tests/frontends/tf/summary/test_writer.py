"""Event files, the default writer, and when summaries are written."""

import gc
import sys
import threading

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from frontends import tf


def scalars_of(folder):
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    return {
        tag: [(event.step, event.tensor_proto.float_val[0]) for event in events.Tensors(tag)]
        for tag in events.Tags()["tensors"]
    }


def test_tensorboard_reads_the_file(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path / "new" / "folder")
    with writer.as_default():
        for step in range(3):
            assert tf.summary.scalar("loss", 1 / (step + 1), step=step)
    writer.close()
    assert scalars_of(tmp_path / "new" / "folder") == {
        "loss": [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
    }
    [path] = (tmp_path / "new" / "folder").iterdir()
    assert path.name.startswith("events.out.tfevents.")
    assert path.name.endswith(".v2")
    assert next(iter(EventFileLoader(str(path)).Load())).file_version == "brain.Event:2"


def test_two_writers_of_a_folder_have_files_of_their_own(tmp_path):
    for _ in range(2):
        tf.summary.create_file_writer(tmp_path).close()
    assert len(list(tmp_path.iterdir())) == 2


def test_without_a_writer_nothing_is_written():
    assert not tf.summary.should_record_summaries()
    assert tf.summary.scalar("loss", object()) is False
    tf.summary.flush()


def test_the_end_of_the_block_flushes(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        tf.summary.scalar("loss", 1.0, step=0)
    assert scalars_of(tmp_path) == {"loss": [(0, 1.0)]}
    writer.close()


@pytest.mark.parametrize(
    ("options", "written"), [({}, 0), ({"max_queue": 1}, 2), ({"flush_millis": 0}, 3)]
)
def test_how_many_wait(tmp_path, options, written):
    writer = tf.summary.create_file_writer(tmp_path, **options)
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("loss", 1.0, step=step)
        assert len(scalars_of(tmp_path).get("loss", [])) == written
        tf.summary.flush()
        assert len(scalars_of(tmp_path)["loss"]) == 3
    writer.close()


def test_a_writer_that_nobody_holds_closes_its_file(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)
    writer.append(
        __import__("tensorboard.compat.proto.event_pb2", fromlist=["Event"]).Event(step=1)
    )
    del writer
    gc.collect()  # a file that was left open would warn, and warnings are errors
    [path] = tmp_path.iterdir()
    assert len(list(EventFileLoader(str(path)).Load())) == 2


def test_a_closed_writer_says_so(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(RuntimeError, match="already closed"), writer.as_default():
        pass
    with pytest.raises(RuntimeError, match="already closed"):
        writer.set_as_default()


def test_steps_come_from_the_nearest_place(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)
    counter = tf.Variable(5, dtype=tf.int32)
    with writer.as_default(step=counter):
        tf.summary.scalar("a", 1.0)
        counter.assign_add(1)
        tf.summary.scalar("a", 1.0)
        tf.summary.scalar("a", 1.0, step=9)
        assert tf.summary.experimental.get_step() is counter
        tf.summary.experimental.set_step(11)
        tf.summary.scalar("a", 1.0)
    assert tf.summary.experimental.get_step() is None
    writer.close()
    assert [step for step, _ in scalars_of(tmp_path)["a"]] == [5, 6, 9, 11]


def test_no_step_is_an_error():
    with tf.summary.create_noop_writer().as_default():
        with pytest.raises(ValueError, match=r"'a' has no step.*set_step"):
            tf.summary.scalar("a", 1.0)
        with pytest.raises(TypeError, match=r"must be an integer, but it is 1\.5"):
            tf.summary.scalar("a", 1.0, step=1.5)


def test_record_if():
    with tf.summary.create_noop_writer().as_default(step=1):
        assert tf.summary.should_record_summaries()
        for condition in (False, lambda: False, lambda: tf.constant(False)):
            with tf.summary.record_if(condition):
                assert not tf.summary.should_record_summaries()
                assert tf.summary.scalar("a", 1.0) is False
        with tf.summary.record_if(lambda: tf.constant(True)):
            assert tf.summary.scalar("a", 1.0) is True


def test_another_thread_has_no_writer():
    found = []
    with tf.summary.create_noop_writer().as_default(step=1):
        thread = threading.Thread(target=lambda: found.append(tf.summary.scalar("a", 1.0)))
        thread.start()
        thread.join()
    assert found == [False]


def test_without_tensorboard_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    with pytest.raises(ImportError, match=r'pip install "jaxtribute\[tensorboard\]"'):
        tf.summary.create_file_writer(tmp_path)
