"""Who keeps the others waiting."""

import dataclasses

import pytest

from spmd.cluster.verdict import Limits, TaskState, Verdict, judge

LIMITS = Limits(idle_seconds=60, silent_seconds=30, apart_seconds=20)
SAVES = {"call": "checkpoint/save (1)", "script_position": "CheckpointManager.save (train.py:31)"}
STEPS = {"call": "spmd/agreement (5)", "doing": "a call of the step 'train'"}


def tasks(*steps, idle=0.0, **others):
    """Tasks at some steps, all idle for a time; what others says of `first` and `last` is said of these."""
    all_tasks = [
        TaskState(f"task {i}", step, idle_seconds=idle, **others.get("each", {}))
        for i, step in enumerate(steps)
    ]
    for index, what in ((0, others.get("first", {})), (-1, others.get("last", {}))):
        all_tasks[index] = dataclasses.replace(all_tasks[index], **what)
    return all_tasks


@pytest.mark.parametrize(
    "states",
    [
        tasks(5, 5),
        tasks(5, 3, idle=60),  # not longer than allowed
        tasks(5, 5, idle=1e6),  # all of them at work outside of steps: loading, saving, evaluating
        tasks(0, 0, 0, idle=1e6),  # all compile
        tasks(5, 3, idle=61, last={"idle_seconds": 10}),  # slow, but it gets on
        tasks(5, 3, idle=10, last={"idle_seconds": 61}),  # nobody waits for it yet
        tasks(1, 0, idle=599),  # before the first step: reads data, compiles
        tasks(5, 3, idle=599, last={"doing": "compiles eval_step"}),
        tasks(5, 5, last={"silent_seconds": 30}),
        tasks(5, 5, idle=600, last={"ended": True}),  # the chief writes the model
        tasks(5, 5, idle=1e6, each={"ended": True}),
        tasks(5, 5, idle=61, each={"waits": True}, last={"waits": False}),
        tasks(5, 4, last={"ended": True, "settled_seconds": 20}),  # the news may be old
        tasks(5, 5, each={"settled_seconds": 20}, first=SAVES, last=STEPS),
        tasks(5, 5, each={"settled_seconds": 1e6} | SAVES),  # all wait: it is as good as over
        tasks(5, 5, idle=60, first=SAVES | {"settled_seconds": 60}),
        tasks(0, 0, idle=599, first=SAVES | {"settled_seconds": 599}),  # the other reads data
    ],
)
def test_processes_that_can_go_on(states):
    assert judge(states, LIMITS) is None


@pytest.mark.parametrize(
    ("states", "text"),
    [
        (
            tasks(5, 3, idle=61, last={"script_position": "read (train.py:9)"}),
            "task 1 lags: no step since step 3, for 61 s, while task 0 is at step 5 and waits.\n"
            "  task 1: read (train.py:9), at step 3\n  task 0: at step 5",
        ),
        (
            tasks(3, 5, 4, idle=61),
            "task 0 lags: no step since step 3, for 61 s; task 2 lags: no step since step 4, for 61 s, while task 1 is "
            "at step 5 and waits.",
        ),
        (
            tasks(1, 0, idle=601),
            "task 1 lags: no step at all, for 601 s, while task 0 is at step 1 and waits.",
        ),
        (
            tasks(5, 3, idle=601, last={"doing": "compiles eval_step"}),
            "task 1 lags: no step since step 3, for 601 s, while task 0 is at step 5 and waits.\n"
            "  task 1: compiles eval_step, at step 3\n",
        ),
        (
            tasks(5, 3, last={"ended": True, "settled_seconds": 21}),
            "task 1 has ended its script after step 3, while task 0 is at step 5 and waits.",
        ),
        (
            tasks(5, 5, idle=601, last={"ended": True}),
            "task 0 is still running, at step 5, without a step for 601 s, and the scripts of task 1 have ended",
        ),
        (
            tasks(5, 5, last={"silent_seconds": 31}),
            "task 1 is stopped: not heard from for 31 s; last heard from at step 5.",
        ),
        (
            tasks(5, 4, 4, last={"lost": True, "silent_seconds": 99}),
            "task 2 is gone: its connection closed without a goodbye; last heard from at step 4.",
        ),
        (
            tasks(0, 0, last={"lost": True}),
            "task 1 is gone: its connection closed without a goodbye.\n",
        ),
        (
            tasks(5, 4, last={"lost": True, "failure": "failed: no"}),
            "task 1, at step 4, failed: no",
        ),
        (tasks(0, 0, each={"failure": "ends."}), "task 0, task 1, before its first step, ends."),
        (
            tasks(4, 4, first={"lost": True}, last={"failure": "was told to end."}),
            "task 1, at step 4, was told to end.\ntask 0 is gone: its connection closed without a goodbye; last heard "
            "from at step 4.",
        ),
        (
            tasks(5, 5, idle=61, each={"waits": True, "script_position": "train.py:9"}),
            "All tasks wait for what step 5 computes, for more than 60 s: no task lags",
        ),
        (
            tasks(
                5,
                5,
                idle=61,
                first=SAVES | {"settled_seconds": 61},
                last={"script_position": "train.py:9"},
            ),
            "Some tasks wait in a call that the others do not make.\n"
            "  task 0: waits in CheckpointManager.save (train.py:31), at step 5\n"
            "  task 1: train.py:9, at step 5\n"
            "Every task must make it. Take it out of code that only some tasks run, such as `if is_chief:`.\n"
            "If the others only need more than 60 s, raise JAXTRIBUTE_WATCHDOG_SECONDS.",
        ),
    ],
)
def test_another_start_may_help(states, text):
    verdict = judge(states, LIMITS)
    assert verdict is not None
    assert verdict.text.startswith(text)
    assert verdict.retryable


@pytest.mark.parametrize(
    ("states", "text"),
    [
        (
            tasks(5, 4, last={"diverged": True}),
            "task 1 ran different steps from task 0, or ran them in another order, so values",
        ),
        (
            tasks(5, 5, each={"settled_seconds": 21}, first=SAVES, last=STEPS),
            "Some tasks wait in a call that the others do not make.\n"
            "  task 0: waits in CheckpointManager.save (train.py:31), at step 5\n"
            "  task 1: waits in spmd/agreement (5), a call of the step 'train', at step 5\n"
            "Every task must make it.",
        ),
        (
            tasks(
                0, 0, 0, each={"settled_seconds": 21, "ended": True}, first={"ended": False} | STEPS
            ),
            "Some tasks wait in a call that the others do not make.\n"
            "  task 0: waits in spmd/agreement (5), a call of the step 'train', before its first step\n"
            "  task 1, task 2: its script has ended\n",
        ),
        (  # the other one has passed the call by, and waits in a step
            tasks(
                5, 6, first=SAVES | {"settled_seconds": 21, "waits_for": 1}, last={"waits": True}
            ),
            "Some tasks wait in a call that the others do not make.\n"
            "  task 0: waits in CheckpointManager.save (train.py:31), at step 5\n"
            "  task 1: waits for its devices, at step 6\n",
        ),
    ],
)
def test_another_start_would_end_alike(states, text):
    verdict = judge(states, LIMITS)
    assert verdict is not None
    assert verdict.text.startswith(text)
    assert not verdict.retryable
    assert not verdict.shows_stacks


def test_many_tasks_are_not_all_named():
    verdict = judge(tasks(*range(20), each={"lost": True}), LIMITS)
    assert verdict is not None
    assert verdict.text.startswith("task 0, task 1, ")
    assert "task 7 and 12 more are gone" in verdict.text


def test_a_verdict_is_read_as_it_is_written():
    verdict = Verdict("worker 1 is gone", retryable=False, failed=True)
    assert Verdict.read(dataclasses.asdict(verdict)) == verdict
    # Of another release, which may know more.
    assert Verdict.read({"text": "x", "retryable": 0, "since": 3}) == Verdict("x", retryable=False)


@pytest.mark.parametrize("said", [None, "x", [], {}, {"text": None}, {"retryable": True}])
def test_what_is_no_verdict(said):
    assert Verdict.read(said) is None


@pytest.mark.parametrize("waits_for", [-1, 2, 10**30])
def test_a_task_that_waits_for_none_that_there_is(waits_for):
    waits = SAVES | {"settled_seconds": 21.0, "waits_for": waits_for}
    assert judge(tasks(3, 3, first=waits), LIMITS) is None
