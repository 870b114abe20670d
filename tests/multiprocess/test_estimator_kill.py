"""Estimators whose tasks are killed at random moments: no step is lost or counted twice, and the last checkpoint is evaluated."""

from pathlib import Path

import pytest

from frontends import tf
from tests.multiprocess.s3 import BUCKET
from tests.multiprocess.s3 import s3 as s3

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow]

PROGRAM = Path(__file__).parent / "programs" / "estimate.py"
INTERVAL, STEPS = 10, 60


@pytest.fixture
def launch(run_python, tmp_path):
    """Trains by `jaxtribute launch`, and kills a task; gives the folder, and what was printed."""

    def launch(*words, victim="none", kills=0, model_dir=tmp_path / "model", environment=None):
        done = run_python(
            *("-m", "spmd.cli", "launch", *words, "--devices-per-worker", 1),
            *("--max-restarts", 3, "--backoff-seconds", 0, "--grace-seconds", 5),
            *(PROGRAM, tmp_path, STEPS, victim, kills, model_dir),
            environment=environment,
        )
        return tmp_path, done

    return launch


def attempts_of(folder, task):
    """For each start of a task, the step it went on from, and those that it did."""
    found = []
    for line in (folder / f"steps-{task}.txt").read_text().splitlines():
        kind, _, number = line.partition(" ")
        if kind == "start":
            found.append((int(number), []))
        else:
            found[-1][1].append(int(kind))
    return found


def check(folder, tasks, *, evaluations_may_repeat=False, model_dir=None):
    model_dir = str(folder / "model") if model_dir is None else model_dir
    estimator = tf.estimator.Estimator(lambda features: None, model_dir)
    assert estimator.get_variable_value("global_step") == STEPS
    assert estimator.get_variable_value("done") == STEPS
    assert estimator.get_variable_value("numbers") == sum(range(STEPS))
    for task in tasks:
        reached = 0
        for restored, steps in attempts_of(folder, task):
            assert restored % INTERVAL == 0
            # The checkpoint before that of the interval, if it died while it saved.
            assert reached - restored <= 2 * INTERVAL
            assert steps == list(range(restored, restored + len(steps)))
            reached = restored + len(steps)
        assert reached == STEPS
    steps = [
        event.step
        for file in sorted(tf.io.gfile.glob(f"{model_dir}/eval/events*"))
        for event in tf.compat.v1.train.summary_iterator(file)
        if any(value.tag == "loss" for value in event.summary.value)
    ]
    assert steps.count(STEPS) == 1 or (evaluations_may_repeat and STEPS in steps)


@pytest.mark.parametrize("victim", ["worker:0", "worker:2"])
def test_a_worker_is_killed_again_and_again(launch, victim):
    folder, done = launch("--workers", 3, "--evaluator", victim=victim, kills=2)
    assert done.stderr.count("SIGKILL") >= 2
    check(folder, ["worker:0", "worker:1", "worker:2"])
    assert len(attempts_of(folder, victim)) == 3


def test_the_evaluator_is_killed(launch):
    folder, done = launch("--workers", 3, "--evaluator", victim="evaluator:0", kills=2)
    assert done.stderr.count("SIGKILL") >= 2
    check(folder, ["worker:0", "worker:1", "worker:2"], evaluations_may_repeat=True)
    assert len(attempts_of(folder, "worker:0")) == 1


def test_a_process_that_trains_and_evaluates_is_killed(launch):
    folder, done = launch("--workers", 1, victim="worker:0", kills=2)
    assert done.stderr.count("SIGKILL") >= 2
    check(folder, ["worker:0"])


@pytest.mark.parametrize("victim", ["worker:0", "evaluator:0"])
def test_a_task_is_killed_whose_model_is_in_a_store(launch, s3, monkeypatch, victim):
    model_dir = f"s3://{BUCKET}/{victim.partition(':')[0]}"
    words = "--workers", 2, "--evaluator"
    folder, done = launch(*words, victim=victim, kills=1, model_dir=model_dir, environment=s3)
    assert done.stderr.count("SIGKILL") >= 1
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    repeats = victim == "evaluator:0"
    check(folder, ["worker:0"], evaluations_may_repeat=repeats, model_dir=model_dir)
    assert not (folder / "model").exists()
