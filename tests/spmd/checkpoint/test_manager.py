"""Which checkpoints are saved, kept and restored."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import spmd.checkpoint.manager as manager_module
from spmd.checkpoint import (
    Checkpoint,
    CheckpointError,
    CheckpointManager,
    DamagedCheckpointError,
    DamagedCheckpointWarning,
    KeepPolicy,
    SavePolicy,
    manifest,
    saving,
)


def run(folder, steps, keep=None, when=None, metrics=None):
    checkpoint = Checkpoint(step=0)
    manager = CheckpointManager(checkpoint, folder, keep=keep, when=when)
    for step in steps:
        checkpoint.step = step
        manager.save(step, metrics=None if metrics is None else {"loss": metrics[step]})
    manager.wait()
    return manager


def test_all_are_kept_by_default(tmp_path):
    assert list(run(tmp_path, range(12)).checkpoints) == list(range(12))


def test_the_last_are_kept(tmp_path):
    assert list(run(tmp_path, range(5), KeepPolicy(last=2)).checkpoints) == [3, 4]


@pytest.mark.parametrize(("mode", "best"), [("min", 1), ("max", 2)])
def test_the_best_are_kept_beside_the_last(tmp_path, mode, best):
    keep = KeepPolicy(last=1, best=1, metric="loss", mode=mode)
    losses = [0.5, 0.1, 0.9, float("nan"), 0.3]
    assert list(run(tmp_path, range(5), keep, metrics=losses).checkpoints) == [best, 4]


def test_a_missing_metric_is_named(tmp_path):
    with pytest.raises(
        CheckpointError, match=r"chosen by 'loss', but the metrics of step 0 are \[\]"
    ):
        run(tmp_path, [0], KeepPolicy(last=1, best=1, metric="loss"))


def test_every_so_many_steps(tmp_path):
    assert list(run(tmp_path, range(8), when=SavePolicy(every_steps=3)).checkpoints) == [0, 3, 6]


def test_every_so_many_seconds(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(manager_module.time, "monotonic", lambda: now[0])
    manager = CheckpointManager(Checkpoint(a=1), tmp_path, when=SavePolicy(every_seconds=10))
    saved = []
    for now[0] in (0.0, 9.0, 11.0, 20.0, 21.0):
        saved.append(manager.save(int(now[0])) is not None)
    manager.wait()
    assert saved == [True, False, True, False, True]


def test_force_saves_in_any_case(tmp_path):
    manager = run(tmp_path, [0], when=SavePolicy(every_steps=100))
    assert manager.save(1) is None
    assert manager.save(1, force=True)
    manager.wait()
    assert list(manager.checkpoints) == [0, 1]


def test_the_interval_goes_on_after_a_restore(tmp_path):
    run(tmp_path, [10])
    manager = CheckpointManager(Checkpoint(step=0), tmp_path, when=SavePolicy(every_steps=5))
    assert manager.restore_latest() == 10
    assert manager.save(12) is None
    assert manager.save(15)
    manager.wait()


def test_nothing_to_restore(tmp_path):
    assert CheckpointManager(Checkpoint(step=0), tmp_path / "none").restore_latest() is None


def test_a_damaged_newest_one_is_told_of_and_passed_over(tmp_path):
    run(tmp_path, range(3))
    manifest = tmp_path / "step-2" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("step", "stop", 1))
    checkpoint = Checkpoint(step=0)
    with pytest.warns(
        DamagedCheckpointWarning, match=r"step-2/manifest\.json.*one before it is used"
    ):
        assert CheckpointManager(checkpoint, tmp_path).restore_latest() == 1
    assert checkpoint.step == 1


def test_every_file_is_checked_once(tmp_path, monkeypatch):
    manager = CheckpointManager(Checkpoint(values=np.ones(3)), tmp_path)
    manager.save(1)
    manager.wait()
    checked, fingerprint = [], manifest._fingerprint
    monkeypatch.setattr(
        manifest, "_fingerprint", lambda file: checked.append(file) or fingerprint(file)
    )
    assert manager.restore_latest() == 1
    assert len(checked) == len(set(checked)) > 0


def test_a_new_start_does_not_overwrite_damaged_ones(tmp_path):
    run(tmp_path, range(2))
    for step in range(2):
        damage(tmp_path, step)
    manager = CheckpointManager(Checkpoint(step=0), tmp_path)
    with (
        pytest.warns(DamagedCheckpointWarning),
        pytest.raises(
            DamagedCheckpointError, match=r"step-1, step-0 are damaged.*\n.*start anew.*: mv "
        ),
    ):
        manager.restore_latest()


def damage(folder, step):
    (folder / f"step-{step}" / "manifest.json").write_text("")


def test_higher_numbers_do_not_crowd_out_what_is_saved(tmp_path):
    run(tmp_path, [100])
    damage(tmp_path, 100)
    manager = CheckpointManager(Checkpoint(step=0), tmp_path, keep=KeepPolicy(last=1))
    with pytest.warns(DamagedCheckpointWarning), pytest.raises(DamagedCheckpointError):
        manager.restore_latest()
    for step in (1, 2):  # the script has caught the error
        path = manager.save(step)
        manager.wait()
        assert Path(path).is_dir()
    assert list(manager.checkpoints) == [2, 100]


def test_damaged_ones_do_not_count_as_kept(tmp_path):
    run(tmp_path, [1, 2])
    damage(tmp_path, 2)
    manager = CheckpointManager(Checkpoint(step=0), tmp_path, keep=KeepPolicy(last=2))
    with pytest.warns(DamagedCheckpointWarning):
        assert manager.restore_latest() == 1
    manager.save(3)
    manager.wait()
    assert list(manager.checkpoints) == [1, 3]


def test_one_whose_replacement_was_killed_is_found(tmp_path):
    run(tmp_path, [1])
    (tmp_path / "step-1").rename(tmp_path / "step-1.replaced")
    manager = CheckpointManager(Checkpoint(step=0), tmp_path)
    assert list(manager.checkpoints) == [1]
    assert manager.restore_latest() == 1


def test_leftovers_are_no_checkpoints_and_go_at_the_next_save(tmp_path):
    run(tmp_path, [0])
    (tmp_path / "step-9.saving" / "arrays").mkdir(parents=True)
    (tmp_path / "step-7").mkdir()  # another program's
    manager = CheckpointManager(Checkpoint(step=0), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert manager.restore_latest() == 0
    manager.save(1)
    manager.wait()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["step-0", "step-1", "step-7"]


def test_what_another_manager_is_writing_is_no_leftover(tmp_path, monkeypatch):
    first, second = (CheckpointManager(Checkpoint(step=0), tmp_path) for _ in range(2))
    first.save(1)
    running = []
    monkeypatch.setattr(
        saving.layout, "delete_leftovers", lambda _: running.append(saving._running)
    )
    second.save(2)
    second.wait()
    assert running == [None]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KeepPolicy(last=0), "1 checkpoint has to be kept"),
        (lambda: KeepPolicy(best=1), "chosen by a metric"),
        (lambda: KeepPolicy(mode="low"), "'min' or 'max'"),
        (lambda: SavePolicy(every_steps=0), "every_steps is 0"),
        (lambda: SavePolicy(every_seconds=-1.0), "every_seconds is -1.0"),
    ],
)
def test_policies_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
