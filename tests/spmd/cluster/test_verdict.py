"""Who keeps the others waiting."""

import dataclasses

import pytest

from spmd.cluster.verdict import Limits, TaskState, judge

LIMITS = Limits(idle_seconds=60, silent_seconds=30)


def tasks(*steps, idle=0.0, **others):
    """Tasks at some steps, all idle for a time; what others says of `one` is said of the last one."""
    all_tasks = [
        TaskState(f"task {i}", step, idle_seconds=idle, **others.get("each", {}))
        for i, step in enumerate(steps)
    ]
    return [*all_tasks[:-1], dataclasses.replace(all_tasks[-1], **others.get("last", {}))]


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
    ],
)
def test_processes_that_can_go_on(states):
    assert judge(states, LIMITS) is None


@pytest.mark.parametrize(
    ("states", "verdict"),
    [
        (
            tasks(5, 3, idle=61),
            "task 1 lags: no step since step 3, for 61 s, while task 0 is at step 5 and waits.",
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
            "task 1 lags: no step since step 3, for 601 s (compiles eval_step), while",
        ),
        (
            tasks(5, 3, idle=61, last={"ended": True, "idle_seconds": 1}),
            "task 1 has ended its script after step 3, while task 0 is at step 5 and waits.",
        ),
        (
            tasks(5, 5, idle=601, last={"ended": True}),
            "task 0 is still running: at step 5, no step for 601 s. The scripts of task 1 have ended",
        ),
        (
            tasks(5, 5, last={"silent_seconds": 31}),
            "task 1 is stopped: not heard of for 31 s, at step 5.",
        ),
        (
            tasks(5, 4, 4, last={"lost": True, "silent_seconds": 99}),
            "task 2 is gone: its connection closed without a goodbye; last heard of at step 4.",
        ),
        (
            tasks(5, 4, last={"strays": True}),
            "task 1 (at step 4) ran other steps than task 0 (at step 5), or in another order, and values",
        ),
        (
            tasks(5, 4, last={"lost": True, "failure": "ValueError: no"}),
            "task 1 failed at step 4: ValueError: no",
        ),
        (
            tasks(5, 5, idle=61, each={"waits": True, "doing": "waits for the loss"}),
            "All tasks are at step 5, and wait for what it computes for more than 60 s: no task lags",
        ),
    ],
)
def test_processes_that_cannot_go_on(states, verdict):
    assert (judge(states, LIMITS) or "").startswith(verdict)


def test_a_state_reads_as_a_sentence():
    state = TaskState("worker 1 (b:1)", 7, 61.2, 31.4, "compiles f")
    assert (
        str(state) == "worker 1 (b:1) at step 7, no step for 61 s, compiles f, not heard for 31 s"
    )
    assert str(TaskState("chief 0", 7, 61, ended=True)) == "chief 0 at step 7, its script has ended"
