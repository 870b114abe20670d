"""Which checkpoints `tf.train.CheckpointManager` saves, keeps and finds."""

import json
import threading
import time
from pathlib import Path

import jax
import pytest

from frontends import tf
from frontends.tf.train import checkpoint_manager
from spmd.checkpoint import DamagedCheckpointWarning, manifest, saving


def checkpoint_of(value=0.0):
    return tf.train.Checkpoint(v=tf.Variable(value))


def manager_of(folder, saves=0, **options):
    manager = tf.train.CheckpointManager(checkpoint_of(), folder, **{"max_to_keep": 2, **options})
    for value in range(1, saves + 1):
        manager.checkpoint.v.assign(float(value))
        manager.save()
    return manager


def names(manager):
    return [path.rpartition("/")[2] for path in manager.checkpoints]


def test_the_last_are_kept(tmp_path):
    manager = manager_of(tmp_path, 3)
    assert names(manager) == ["ckpt-2", "ckpt-3"]
    assert (
        manager.latest_checkpoint
        == str(tmp_path / "ckpt-3")
        == tf.train.latest_checkpoint(tmp_path)
    )
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["checkpoint", "ckpt-2", "ckpt-3"]
    assert manager.directory == str(tmp_path)


def test_what_tensorflow_has_as_properties_can_be_overridden_and_not_set(tmp_path):
    class Manager(tf.train.CheckpointManager):
        directory = property(lambda _: "elsewhere")
        latest_checkpoint = property(lambda _: None)

    manager = Manager(checkpoint_of(), tmp_path, max_to_keep=2)
    manager.save()
    assert (manager.directory, manager.latest_checkpoint) == ("elsewhere", None)
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-1")
    for name in ("directory", "checkpoint", "checkpoint_interval", "latest_checkpoint"):
        with pytest.raises(AttributeError):
            setattr(manager_of(tmp_path), name, None)


def test_a_latest_checkpoint_that_could_not_be_verified_counts_as_unchecked(tmp_path, monkeypatch):
    def fail(folder):
        raise OSError(f"cannot read {folder}")

    manager_of(tmp_path, 1)
    manager = manager_of(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_manager, "latest_checkpoint", fail)
        with pytest.raises(OSError, match="cannot read"):
            _ = manager.latest_checkpoint
    assert not manager._is_checked
    assert manager.latest_checkpoint == str(tmp_path / "ckpt-1")


def test_a_counter_that_only_has_numpy(tmp_path):
    class Counter:
        def numpy(self):
            return 7

    options = {"step_counter": Counter(), "checkpoint_interval": 2}
    assert manager_of(tmp_path, 1, **options).latest_checkpoint
    manager = manager_of(tmp_path, **options)
    assert manager.restore_or_initialize() == manager.latest_checkpoint
    assert manager.save() is None


def test_all_are_kept(tmp_path):
    assert len(names(manager_of(tmp_path, 4, max_to_keep=None))) == 4


def test_the_file_is_tensorflows(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_manager.time, "time", lambda: 1795324247.5)
    manager_of(tmp_path, 3)
    # As TensorFlow 2.21 writes it.
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "ckpt-3"\n'
        'all_model_checkpoint_paths: "ckpt-2"\n'
        'all_model_checkpoint_paths: "ckpt-3"\n'
        "all_model_checkpoint_timestamps: 1795324247.5\n"
        "all_model_checkpoint_timestamps: 1795324247.5\n"
        "last_preserved_timestamp: 1795324246.5\n"
    )


def test_a_later_manager_goes_on(tmp_path):
    manager_of(tmp_path, 3)
    manager = manager_of(tmp_path)
    assert names(manager) == ["ckpt-2", "ckpt-3"]
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-3")
    assert manager.checkpoint.v.numpy() == 3.0
    manager.save()
    assert names(manager) == ["ckpt-3", "ckpt-4"]


def test_one_every_so_many_hours_stays_for_good(tmp_path, monkeypatch):
    start, clock = time.time(), [0.0]
    monkeypatch.setattr(checkpoint_manager.time, "time", lambda: start + 3600 * clock[0])
    manager = manager_of(tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=2)
    for clock[0] in range(6):
        manager.save()
    assert names(manager) == ["ckpt-6"]
    # Saved in hour 2 and hour 4, each 2 hours after the last that stayed.
    assert sorted(entry.name for entry in tmp_path.glob("ckpt-*")) == ["ckpt-3", "ckpt-5", "ckpt-6"]


def test_an_interval_of_steps(tmp_path):
    step = tf.Variable(0)
    manager = manager_of(tmp_path, max_to_keep=None, step_counter=step, checkpoint_interval=2)
    saved = []
    for value in range(5):
        step.assign(value)
        saved.append(manager.save() is not None)
    assert saved == [True, False, True, False, True]
    assert manager.save(check_interval=False) is None
    assert manager.checkpoint_interval == 2


def test_numbers_of_ones_own(tmp_path):
    manager = manager_of(tmp_path)
    assert manager.save(checkpoint_number=77) == str(tmp_path / "ckpt-77")
    assert manager.save(checkpoint_number=tf.Variable(78)) == str(tmp_path / "ckpt-78")
    assert manager.checkpoint.save_counter.numpy() == 2


def test_a_function_makes_the_start_where_there_is_no_checkpoint(tmp_path):
    called = []
    manager = manager_of(tmp_path / "none", init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None
    assert called == [1]
    assert manager.latest_checkpoint is None


def test_a_damaged_newest_one_is_told_of_and_the_one_before_it_used(tmp_path):
    manager_of(tmp_path, 3)
    file = tmp_path / "ckpt-3" / "manifest.json"
    file.write_bytes(file.read_bytes()[:-9])
    manager = manager_of(tmp_path)
    with pytest.warns(DamagedCheckpointWarning, match=r"ckpt-3/manifest\.json"):
        assert manager.latest_checkpoint == str(tmp_path / "ckpt-2")
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-2")
    assert manager.checkpoint.v.numpy() == 2.0
    manager.save()  # takes the place of the damaged one
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-3")


@pytest.mark.parametrize("asked_before", [False, True])
def test_every_file_is_checked_once(tmp_path, monkeypatch, asked_before):
    manager_of(tmp_path, 1)
    checked, fingerprint = [], manifest._fingerprint
    monkeypatch.setattr(
        manifest, "_fingerprint", lambda file: checked.append(file) or fingerprint(file)
    )
    manager = manager_of(tmp_path)
    assert checked == []
    if asked_before:
        assert manager.latest_checkpoint == str(tmp_path / "ckpt-1")
    manager.restore_or_initialize()
    assert len(checked) == len(set(checked)) > 0
    manager.restore_or_initialize()  # it may have been damaged since
    assert len(checked) == 2 * len(set(checked))


def test_other_processes_than_the_first_check_nothing(tmp_path, monkeypatch, store):
    manager_of(tmp_path, 1)
    manager = manager_of(tmp_path)
    first = json.dumps({"path": str(tmp_path / "ckpt-1"), "error": ""})
    monkeypatch.setattr(jax, "process_index", lambda: 1)
    store.answer = lambda key, text: (first if key == "checkpoint/choice" else text, text)
    monkeypatch.setattr(manifest, "_fingerprint", lambda file: pytest.fail(f"read {file}"))
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-1")
    assert manager.latest_checkpoint == str(tmp_path / "ckpt-1")
    assert manager.checkpoint.v.numpy() == 1.0


def test_damage_is_found_without_a_manager_too(tmp_path):
    checkpoint = checkpoint_of()
    for _ in range(3):
        checkpoint.save(tmp_path / "ckpt")
    (tmp_path / "ckpt-3" / "manifest.json").unlink()
    with pytest.warns(DamagedCheckpointWarning, match="it is missing"):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-2")


def test_leftovers_of_a_killed_save_go_with_the_next(tmp_path):
    manager_of(tmp_path, 1)
    (tmp_path / "ckpt-2.saving" / "arrays").mkdir(parents=True)
    manager = manager_of(tmp_path)
    assert names(manager) == ["ckpt-1"]
    manager.restore_or_initialize()
    manager.save()
    assert sorted(entry.name for entry in tmp_path.glob("ckpt-*")) == ["ckpt-1", "ckpt-2"]


def test_an_asynchronous_manager(tmp_path):
    manager = manager_of(tmp_path)
    options = tf.train.CheckpointOptions(enable_async=True)
    for _ in range(4):
        manager.save(options=options)
    manager.sync()
    assert sorted(entry.name for entry in tmp_path.glob("ckpt-*")) == ["ckpt-3", "ckpt-4"]
    assert tf.train.latest_checkpoint(tmp_path) == manager.latest_checkpoint


def test_a_write_callback_may_ask_another_manager(tmp_path, monkeypatch):
    """While a manager's first look waits for the save that calls it."""
    manager_of(tmp_path / "other", 1)
    other, manager, entered = (
        manager_of(tmp_path / "other"),
        manager_of(tmp_path),
        threading.Event(),
    )
    manager.save()
    manager = manager_of(tmp_path)
    find, asked = checkpoint_manager.latest_checkpoint, []

    def find_after_the_callback(folder):
        entered.set()
        if folder == manager.directory:
            saver.join(20)
        return find(folder)

    def callback():
        entered.wait(20)
        asked.append(other.latest_checkpoint)

    monkeypatch.setattr(checkpoint_manager, "latest_checkpoint", find_after_the_callback)
    saver = threading.Thread(target=callback, daemon=True)
    saver.start()
    assert manager.latest_checkpoint == str(tmp_path / "ckpt-1")
    assert asked == [str(tmp_path / "other" / "ckpt-1")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_to_keep": 0}, "Expected a positive integer or `None` for `max_to_keep`, got 0"),
        ({"checkpoint_interval": 2}, "`step_counter` should be passed"),
    ],
)
def test_arguments_are_checked(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        manager_of(tmp_path, **options)


def test_what_another_manager_is_writing_is_no_leftover(tmp_path, monkeypatch):
    first, second = (manager_of(tmp_path, checkpoint_name=name) for name in "ab")
    first.save(options=tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True))
    running = []
    monkeypatch.setattr(
        saving.layout, "delete_leftovers", lambda _: running.append(saving._running)
    )
    second.save()
    assert running == [None]


def test_a_save_that_failed_is_due_again(tmp_path, monkeypatch):
    step = tf.Variable(10)
    manager = manager_of(tmp_path, checkpoint_interval=10, step_counter=step)

    def fail(*arguments):
        raise OSError(28, "No space left on device", str(tmp_path))

    with monkeypatch.context() as patched:
        patched.setattr(saving.layout, "publish", fail)
        with pytest.raises(
            OSError, match=r"was not saved, because it could not be written: .*ENOSPC"
        ):
            manager.save()
    assert manager.save() is not None
    assert manager.save() is None


def test_one_that_is_not_recorded_is_there(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr(checkpoint_manager, "update_checkpoint_state", fail)
    with pytest.raises(OSError, match="ckpt-1 is complete, but not recorded, because"):
        manager_of(tmp_path, 1)
    assert (tmp_path / "ckpt-1" / "manifest.json").is_file()


def test_an_unknown_url_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="got nothing://bucket/run: Protocol not known"):
        tf.train.CheckpointManager(tf.train.Checkpoint(), "nothing://bucket/run", max_to_keep=1)
    with pytest.raises(ValueError, match="got nothing://bucket/run: Protocol not known"):
        tf.train.latest_checkpoint("nothing://bucket/run")
    with pytest.raises(ValueError, match=r"got gs:/bucket/run: pathlib\.Path takes one slash"):
        tf.train.latest_checkpoint(Path("gs://bucket/run"))
    with pytest.raises(ValueError, match="got nothing://bucket/run: Protocol not known"):
        tf.estimator.RunConfig(model_dir="nothing://bucket/run")
    assert list(tmp_path.iterdir()) == []


def test_a_store_holds_the_checkpoints_of_a_run(bucket):
    folder = f"{bucket}/run/"
    step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    assert manager.latest_checkpoint is None
    for _ in range(3):
        step.assign_add(1)
        manager.save()
    paths = [f"{bucket}/run/ckpt-2", f"{bucket}/run/ckpt-3"]
    assert manager.checkpoints == paths
    assert tf.io.gfile.listdir(folder) == ["checkpoint", "ckpt-2", "ckpt-3"]
    assert tf.train.latest_checkpoint(folder) == paths[1]
    step.assign(0)
    again = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    assert again.restore_or_initialize() == paths[1]
    assert (step.numpy(), again.checkpoints) == (3, paths)
    assert ("step/.ATTRIBUTES/VARIABLE_VALUE", []) in tf.train.list_variables(folder)
    assert tf.train.load_variable(paths[0], "step/.ATTRIBUTES/VARIABLE_VALUE") == 2
    tf.io.gfile.remove(f"{folder}checkpoint")
    with pytest.warns(DamagedCheckpointWarning, match="is missing, but"):
        assert tf.train.latest_checkpoint(folder) == paths[1]
