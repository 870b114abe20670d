"""Who keeps the others waiting: a decision from what each process last said, without a clock or socket.

**Idle**: a process that starts no step. **Silent**: one that has not been heard of. **Lags**: has started
fewer steps than another one, while nobody starts any. **Strays**: has run other steps than the first one.
"""

import dataclasses
from collections.abc import Sequence

# So many times longer others wait for a process that says what it does, has not made its first step (reads data,
# compiles), or still writes something when they have ended.
_PATIENCE = 10


@dataclasses.dataclass(frozen=True)
class TaskState:
    """What is known of a process.

    Attributes:
        name: the name and address.
        steps: how many steps it has started.
        idle_seconds: since when it has started none.
        silent_seconds: since when it has not been heard of.
        doing: what it says it does; empty for nothing in particular.
        waits: whether it waits for what all compute.
        strays: whether it has run other steps than the first task, or in another order.
        ended: whether its script has ended.
        lost: whether its connection broke.
        failure: the error that ended it; empty for none.
    """

    name: str
    steps: int = 0
    idle_seconds: float = 0.0
    silent_seconds: float = 0.0
    doing: str = ""
    waits: bool = False
    strays: bool = False
    ended: bool = False
    lost: bool = False
    failure: str = ""

    def __str__(self) -> str:
        parts = [f"{self.name} at step {self.steps}"]
        if self.ended:
            parts.append("its script has ended")
        elif self.idle_seconds >= 1:
            parts.append(f"no step for {self.idle_seconds:.0f} s")
        if self.doing:
            parts.append(self.doing)
        elif self.waits:
            parts.append("waits for its devices")
        if self.silent_seconds >= 1:
            parts.append(f"not heard for {self.silent_seconds:.0f} s")
        return ", ".join(parts)


@dataclasses.dataclass(frozen=True)
class Limits:
    """How long a process may be idle or silent.

    Attributes:
        idle_seconds: how long a process may start no step while the others wait for it.
        silent_seconds: how long it may not be heard of.
    """

    idle_seconds: float
    silent_seconds: float


def judge(tasks: Sequence[TaskState], limits: Limits) -> str | None:
    """Decides whether the processes can go on.

    Args:
        tasks: what is known of each process.
        limits: how long they may take.

    Returns:
        Why they cannot, naming the tasks that are to blame; None if they can.

    Examples:
        >>> tasks = [TaskState("chief 0", 8, 70.0), TaskState("worker 1", 7, 71.0)]
        >>> judge(tasks, Limits(60.0, 30.0))
        'worker 1 lags: no step since step 7, for 71 s, while chief 0 is at step 8 and waits.'
    """
    failed = [task for task in tasks if task.failure]
    if failed:
        return "; ".join(
            f"{task.name} failed at step {task.steps}: {task.failure}" for task in failed
        )
    lost = [task for task in tasks if task.lost]
    if lost:
        return _all_of(
            lost, "gone", "its connection closed without a goodbye; last heard of at step {steps}"
        ) + (
            " Killed, out of memory, crashed, or cut off; its own output or the job controller knows."
        )
    astray = [task for task in tasks if task.strays]
    if astray:
        return (
            f"{', '.join(f'{task.name} (at step {task.steps})' for task in astray)} ran other steps than "
            f"{tasks[0].name} (at step {tasks[0].steps}), or in another order, and values of different steps may have "
            "been mixed. All tasks must call the same steps in the same order; look for an `if` over the task's type "
            "or index."
        )
    silent = [task for task in tasks if task.silent_seconds > limits.silent_seconds]
    if silent:
        return _all_of(silent, "stopped", "not heard of for {silent} s, at step {steps}") + (
            " Its process or machine is frozen, or the network is cut."
        )
    running = [task for task in tasks if not task.ended]
    if not running or any(task.idle_seconds <= limits.idle_seconds for task in running):
        return None
    return _lagging(tasks, running, limits) or _too_late(tasks, running, limits)


def _lagging(
    tasks: Sequence[TaskState], running: Sequence[TaskState], limits: Limits
) -> str | None:
    first = max(tasks, key=lambda task: task.steps)
    behind = [task for task in tasks if task.steps < first.steps]
    for task in behind:
        patience = _PATIENCE if not task.ended and (task.doing or not task.steps) else 1
        if not task.ended and task.idle_seconds <= limits.idle_seconds * patience:
            return None  # it has its reasons
    if behind:
        return "; ".join(map(_lag, behind)) + (
            f", while {first.name} is at step {first.steps} and waits."
        )
    if all(task.waits for task in running) and len(running) == len(tasks):
        return (
            f"All tasks are at step {first.steps}, and wait for what it computes for more than "
            f"{limits.idle_seconds:.0f} s: no task lags, so a device or a callback of the step is stuck, or their "
            "programs do not fit together. If a step may take so long, set JAXTRIBUTE_WATCHDOG_SECONDS above it. "
            f"{_table(tasks)}"
        )
    return None


def _lag(task: TaskState) -> str:
    if task.ended:
        return f"{task.name} has ended its script after step {task.steps}"
    doing = f" ({task.doing})" * bool(task.doing)
    since = f"since step {task.steps}" if task.steps else "at all"
    return f"{task.name} lags: no step {since}, for {task.idle_seconds:.0f} s{doing}"


def _too_late(
    tasks: Sequence[TaskState], running: Sequence[TaskState], limits: Limits
) -> str | None:
    ended = [task for task in tasks if task.ended]
    late = [task for task in running if task.idle_seconds > limits.idle_seconds * _PATIENCE]
    if not ended or not late:
        return None
    return _all_of(late, "still running", "at step {steps}, no step for {idle} s") + (
        f" The scripts of {', '.join(task.name for task in ended)} have ended, and waited for it."
    )


def _all_of(tasks: Sequence[TaskState], what: str, how: str) -> str:
    return " ".join(
        f"{task.name} is {what}: "
        + how.format(
            steps=task.steps,
            silent=round(task.silent_seconds),
            idle=round(task.idle_seconds),
        )
        + "."
        for task in tasks
    )


def _table(tasks: Sequence[TaskState]) -> str:
    return f"[{'; '.join(map(str, tasks))}]"
