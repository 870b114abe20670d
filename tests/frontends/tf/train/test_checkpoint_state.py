"""The file that says which checkpoint of a folder is the latest."""

import logging
import threading

import pytest

from frontends import tf
from frontends.tf.train import checkpoint_state
from frontends.tf.train.checkpoint_state import update_checkpoint_state
from spmd.checkpoint import DamagedCheckpointWarning, selection


@pytest.mark.parametrize("name", ["ckpt_3", "cp-0001.ckpt", "größe 1", 'with "quotes"', "a\\b"])
def test_the_latest_is_what_was_written_last(tmp_path, name):
    for each in ("ckpt_1", name):
        update_checkpoint_state(str(tmp_path / each))
        (tmp_path / f"{each}.weights.h5").touch()
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / name)
    assert [path.name for path in tmp_path.glob("*checkpoint*")] == ["checkpoint"]


def test_the_file_is_tensorflows(tmp_path):
    update_checkpoint_state(str(tmp_path / "ckpt_3"))
    # What TensorFlow 2.21 writes after three epochs of ModelCheckpoint("dir/ckpt_{epoch}").
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "ckpt_3"\nall_model_checkpoint_paths: "ckpt_3"\n'
    )


def test_another_folder_can_name_the_latest(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ckpt-1.weights.h5").touch()
    update_checkpoint_state(str(tmp_path / "run" / "ckpt-1"), folder=str(tmp_path))
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "run" / "ckpt-1")


def test_a_file_of_tensorflow_is_read(tmp_path):
    (tmp_path / "checkpoint").write_text(
        'model_checkpoint_path: "gr\\303\\266\\303\\237e-2"\n'
        'all_model_checkpoint_paths: "/elsewhere/ckpt-1"\n'
        'all_model_checkpoint_paths: "gr\\303\\266\\303\\237e-2"\n'
        "all_model_checkpoint_timestamps: 1795301236.5\n"
    )
    state = tf.train.get_checkpoint_state(tmp_path)
    latest = str(tmp_path / "größe-2")
    assert state.model_checkpoint_path == latest
    assert state.all_model_checkpoint_paths == ("/elsewhere/ckpt-1", latest)
    (tmp_path / "größe-2.index").touch()
    assert tf.train.latest_checkpoint(tmp_path) == latest


def test_a_folder_without_checkpoints_has_no_latest(tmp_path):
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert tf.train.latest_checkpoint(tmp_path / "missing") is None
    assert tf.train.get_checkpoint_state(tmp_path) is None


def test_a_latest_checkpoint_that_was_removed_is_none(tmp_path, caplog):
    update_checkpoint_state(str(tmp_path / "ckpt_3"))
    with caplog.at_level(logging.ERROR):
        assert tf.train.latest_checkpoint(tmp_path) is None
    assert "Couldn't match files for checkpoint" in caplog.text


def test_a_file_that_names_none_is_refused(tmp_path):
    (tmp_path / "latest").write_text("something else")
    with pytest.raises(ValueError, match=r"latest names no checkpoint.*write the line"):
        tf.train.latest_checkpoint(tmp_path, "latest")


def saved(folder, count=3, name="ckpt"):
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=tf.Variable(0)), folder, max_to_keep=None, checkpoint_name=name
    )
    for _ in range(count):
        manager.checkpoint.step.assign_add(1)
        manager.save()
    return folder / "checkpoint"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "checkpoint is missing, but .* has 3: training goes on from ckpt-3"),
        (b"", "checkpoint names no checkpoint, but .* has 3"),
        (b"\xff\xfe\x00", "names no checkpoint"),
        (b'model_checkpoint_path: "\\x"\n', "names no checkpoint"),
    ],
)
def test_the_folder_is_scanned_where_the_file_does_not_tell(
    tmp_path, content, message, monkeypatch
):
    monkeypatch.setattr(checkpoint_state, "_RECORDING", 0.0)
    file = saved(tmp_path)
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.warns(DamagedCheckpointWarning, match=message):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-3")
    with pytest.warns(DamagedCheckpointWarning, match=message):
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(step=tf.Variable(0)), tmp_path, max_to_keep=2
        )
    with pytest.warns(DamagedCheckpointWarning, match=message):
        assert manager.restore_or_initialize() == str(tmp_path / "ckpt-3")
    assert manager.checkpoint.step.numpy() == 3
    assert manager.save() == str(tmp_path / "ckpt-4")
    assert [path[-1] for path in manager.checkpoints] == ["3", "4"]
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-4")


def test_a_damaged_latest_is_passed_over_in_a_scan(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_state, "_RECORDING", 0.0)
    saved(tmp_path).unlink()
    (tmp_path / "ckpt-3" / "manifest.json").write_text("")
    with pytest.warns(DamagedCheckpointWarning):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-2")


def test_the_name_saved_last_is_the_latest(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_state, "_RECORDING", 0.0)
    saved(tmp_path, 2, "b")
    saved(tmp_path, 1, "a").unlink()
    with pytest.warns(DamagedCheckpointWarning, match="has 3: training goes on from a-1"):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "a-1")


def test_a_file_that_is_just_being_written_is_waited_for(tmp_path):
    file = saved(tmp_path, 1)
    moved = file.rename(tmp_path / "later")
    threading.Timer(0.15, moved.rename, [file]).start()
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-1")


def test_no_new_start_where_all_are_damaged(tmp_path):
    saved(tmp_path, 2)
    for number in (1, 2):
        (tmp_path / f"ckpt-{number}" / "manifest.json").write_text("")
    with (
        pytest.warns(DamagedCheckpointWarning),
        pytest.raises(ValueError, match=r"ckpt-2, ckpt-1 are damaged.*\n.*start anew.*: mv "),
    ):
        tf.train.latest_checkpoint(tmp_path)


def test_another_file_may_be_missing_on_purpose(tmp_path):
    saved(tmp_path, 2)
    assert tf.train.latest_checkpoint(tmp_path, "best_checkpoint") is None


def test_one_that_is_deleted_meanwhile_is_not_damaged(tmp_path, monkeypatch):
    """Another process saves the next one, while this one reads the files of the one before."""
    saved(tmp_path, 1)
    check, manager = selection.verify, []

    def verify(path):
        if not manager:
            manager.append(
                tf.train.CheckpointManager(
                    tf.train.Checkpoint(step=tf.Variable(0)), tmp_path, max_to_keep=1
                )
            )
            manager[0].save(checkpoint_number=2)
        check(path)

    monkeypatch.setattr(selection, "verify", verify)
    with pytest.warns(DamagedCheckpointWarning):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-2")


def test_relative_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    step = tf.Variable(3)
    checkpoint = tf.train.Checkpoint(step=step)
    assert checkpoint.save("ckpt") == "ckpt-1"
    assert tf.train.latest_checkpoint(".") == "./ckpt-1"
    step.assign(0)
    checkpoint.restore(tf.train.latest_checkpoint(".")).assert_consumed()
    assert step.numpy() == 3
    assert checkpoint.save("./sub/ckpt") == "./sub/ckpt-2"
    assert tf.train.latest_checkpoint("sub") == "sub/ckpt-2"
    manager = tf.train.CheckpointManager(checkpoint, "./ckpts", max_to_keep=1)
    assert [manager.save(), manager.save()] == ["./ckpts/ckpt-3", "./ckpts/ckpt-4"]
    assert manager.checkpoints == ["./ckpts/ckpt-4"]
    assert tf.train.latest_checkpoint("./ckpts") == "./ckpts/ckpt-4"
    assert checkpoint.write("plain") == "plain"
    step.assign(0)
    checkpoint.read("./plain").assert_consumed()
    assert step.numpy() == 3


def test_what_is_a_checkpoint(tmp_path):
    path = tf.train.Checkpoint(step=tf.Variable(0)).save(str(tmp_path / "ckpt"))
    (tmp_path / "model.ckpt-7.index").touch()  # TensorFlow's
    exists = tf.compat.v1.train.checkpoint_exists
    assert exists(path)
    assert exists(str(tmp_path / "model.ckpt-7"))
    assert not exists(str(tmp_path / "ckpt-2"))
    assert not exists(tmp_path)
