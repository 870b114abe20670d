"""Who keeps the others waiting: a decision from what each process last reported, with no clock or socket.

**Idle**: starts no step. **Silent**: has not been heard from. **Lags**: has started fewer steps than another
process, while nobody starts any. **Diverged**: has run different steps from task 0. **Calls**: waits in a call
that all processes must make, such as saving a checkpoint.
"""

import dataclasses
from collections.abc import Callable, Sequence

from spmd.errors import some_of

# How much longer others wait for a process that reports what it does, has not started its first step (it reads
# data, compiles), or still runs when their scripts have ended.
_PATIENCE = 10
_MAX_NAMES = 8


@dataclasses.dataclass(frozen=True)
class TaskState:
    """What is known of a process.

    Attributes:
        name: its name.
        steps: number of steps started.
        idle_seconds: time since it last started one.
        silent_seconds: time since it was last heard from.
        doing: what it reports doing; empty for nothing in particular.
        waits: whether it waits for the devices.
        call: the call that it waits in, of those that all must make; empty for none.
        waits_for: index of the task that it waits for in there, which has not made the call; None if unknown.
        script_position: line of its script, and what that line has called; empty if unknown.
        settled_seconds: how long `call` and `ended` have been the same.
        diverged: whether it has run different steps from task 0, or run them in another order.
        ended: whether its script has ended.
        lost: whether its connection broke.
        failure: what ended it, as the rest of a sentence that begins with its name; empty for no failure.
    """

    name: str
    steps: int = 0
    idle_seconds: float = 0.0
    silent_seconds: float = 0.0
    doing: str = ""
    waits: bool = False
    call: str = ""
    waits_for: int | None = None
    script_position: str = ""
    settled_seconds: float = 0.0
    diverged: bool = False
    ended: bool = False
    lost: bool = False
    failure: str = ""

    @property
    def at(self) -> str:
        """How far it has come: `"at step 12"`."""
        return f"at step {self.steps}" if self.steps else "before its first step"

    @property
    def what(self) -> str:
        """What it does and where, as far as is known: `"waits in CheckpointManager.save (train.py:31)"`."""
        if self.ended:
            return "its script has ended"
        position = self.script_position
        if self.call:
            position = f"waits in {position or self.call}"
        doing = self.doing or ("waits for its devices" if self.waits and not self.call else "")
        return ", ".join(filter(None, [position, doing, self.at]))


@dataclasses.dataclass(frozen=True)
class Limits:
    """How long a process may keep the others waiting.

    Attributes:
        idle_seconds: how long it may start no step while the others wait for it.
        silent_seconds: how long it may be silent.
        apart_seconds: how long some may wait in a call while others have ended or wait in another one. Such a wait
            never ends, but news of it may take some seconds.
    """

    idle_seconds: float
    silent_seconds: float
    apart_seconds: float


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Why the processes cannot go on.

    Attributes:
        text: names the tasks to blame, and what to do.
        retryable: whether a restart may help.
        failed: whether an error has ended a script; other tasks may be about to fail in the same way.
        shows_stacks: whether the processes' stacks add to the text.
    """

    text: str
    retryable: bool = True
    failed: bool = False
    shows_stacks: bool = False

    @classmethod
    def read(cls, said: object) -> "Verdict | None":
        """Reads the verdict of another process, as JSON has it; None if it is none.

        Examples:
            >>> Verdict.read({"text": "worker 1 is gone", "retryable": True}).text
            'worker 1 is gone'
        """
        match said:
            case {"text": str(text), **rest}:
                known = {field.name for field in dataclasses.fields(cls)}
                flags = {str(name): bool(flag) for name, flag in rest.items() if name in known}
                return cls(text, **flags)
            case _:
                return None


def judge(tasks: Sequence[TaskState], limits: Limits) -> Verdict | None:
    """Decides whether the processes can go on.

    Args:
        tasks: what is known of each process.
        limits: how long they may take.

    Returns:
        Why they cannot go on; None if they can.

    Examples:
        >>> tasks = [
        ...     TaskState("chief 0", 8, 70.0),
        ...     TaskState("worker 1", 7, 71.0, script_position="a.py:9"),
        ... ]
        >>> print(judge(tasks, Limits(60.0, 30.0, 30.0)).text)
        worker 1 lags: no step since step 7, for 71 s, while chief 0 is at step 8 and waits.
          worker 1: a.py:9, at step 7
          chief 0: at step 8
    """
    failed = [task for task in tasks if task.failure]
    if failed:
        said = [
            f"{names}, {what}"
            for names, what in _grouped(failed, lambda task: f"{task.at}, {task.failure}")
        ]
        lost = [task for task in tasks if task.lost and not task.failure]
        return Verdict("\n".join([*said, *([_gone(lost)] if lost else [])]), failed=True)
    lost = [task for task in tasks if task.lost]
    if lost:
        return Verdict(
            f"{_gone(lost)}\n"
            "It was killed, ran out of memory, crashed, or was cut off; its own output or the job controller says which."
        )
    diverged = [task for task in tasks if task.diverged]
    if diverged:
        return Verdict(
            f"{_names(diverged)} ran different steps from {tasks[0].name}, or ran them in another order, so values of "
            "different steps may have been mixed.\n"
            "All tasks must call the same steps in the same order; look for an `if` over the task's type or index.",
            retryable=False,
        )
    silent = [task for task in tasks if task.silent_seconds > limits.silent_seconds]
    if silent:
        return Verdict(
            f"{_are(silent)} stopped: not heard from for {silent[0].silent_seconds:.0f} s{_last_heard(silent[0])}.\n"
            "Its process or machine is frozen, or the network is cut.",
            shows_stacks=True,
        )
    return _apart(tasks, limits) or _late(tasks, limits)


def _apart(tasks: Sequence[TaskState], limits: Limits) -> Verdict | None:
    """Finds waits that never end: for tasks that have ended, that wait in another call, or that are past the call."""
    settled = [task for task in tasks if task.settled_seconds > limits.apart_seconds]
    calls = {task.call for task in settled if task.call}
    ended = [task for task in settled if task.ended]
    # A task that has started a later step than the one that waits for it in a call does not come to that call any more.
    waiting = [(task, task.waits_for) for task in settled if task.call]
    known = range(len(tasks))
    passed = any(
        i is not None and i in known and tasks[i].steps > task.steps for task, i in waiting
    )
    if len(calls) > 1 or (calls and ended) or passed:
        return _not_all_call(tasks)
    first = max(tasks, key=lambda task: task.steps)
    missing = [task for task in ended if task.steps < first.steps]
    return _lag(missing, first) if missing else None


def _late(tasks: Sequence[TaskState], limits: Limits) -> Verdict | None:
    """Finds waits that have lasted too long."""
    running = [task for task in tasks if not task.ended]
    if not running or any(task.idle_seconds <= limits.idle_seconds for task in running):
        return None
    first = max(tasks, key=lambda task: task.steps)
    behind = [task for task in running if task.steps < first.steps and not task.call]
    calling = [task for task in running if task.call and task.settled_seconds > limits.idle_seconds]
    absent = [task for task in running if not task.call] if calling else behind
    if any(task.idle_seconds <= limits.idle_seconds * _patience(task) for task in absent):
        return None  # it needs its time
    if calling and absent:
        more = f"\nIf the others only need more than {limits.idle_seconds:.0f} s, raise JAXTRIBUTE_WATCHDOG_SECONDS."
        return _not_all_call(tasks, more)
    if behind:
        return _lag(behind, first)
    if all(task.waits for task in tasks):
        return Verdict(
            f"All tasks wait for what step {first.steps} computes, for more than {limits.idle_seconds:.0f} s: no task "
            "lags, so a device or a callback of the step is stuck, or their programs do not match.\n"
            "If a step may take that long, set JAXTRIBUTE_WATCHDOG_SECONDS above it.\n"
            + _table(tasks),
            shows_stacks=True,
        )
    late = [task for task in running if task.idle_seconds > limits.idle_seconds * _PATIENCE]
    if late and len(running) < len(tasks):
        ended = [task for task in tasks if task.ended]
        return Verdict(
            f"{_are(late)} still running, {late[0].at}, without a step for {late[0].idle_seconds:.0f} s, and the "
            f"scripts of {_names(ended)} have ended and wait for it.\n" + _table(late),
            shows_stacks=True,
        )
    return None


def _gone(lost: Sequence[TaskState]) -> str:
    return f"{_are(lost)} gone: its connection closed without a goodbye{_last_heard(lost[0])}."


def _last_heard(task: TaskState) -> str:
    # News of the first steps may take some seconds.
    return f"; last heard from {task.at}" if task.steps else ""


def _patience(task: TaskState) -> int:
    return _PATIENCE if task.doing or not task.steps else 1


def _lag(behind: Sequence[TaskState], first: TaskState) -> Verdict:
    how = (
        f"{_names([task])} has ended its script after step {task.steps}"
        if task.ended
        else f"{_names([task])} lags: no step {f'since step {task.steps}' if task.steps else 'at all'}, "
        f"for {task.idle_seconds:.0f} s"
        for task in behind[:_MAX_NAMES]
    )
    text = f"{'; '.join(how)}, while {first.name} is {first.at} and waits.\n"
    return Verdict(text + _table([*behind, first]), shows_stacks=True)


def _not_all_call(tasks: Sequence[TaskState], unless: str = "") -> Verdict:
    return Verdict(
        "Some tasks wait in a call that the others do not make.\n"
        f"{_table(tasks)}\n"
        f"Every task must make it. Take it out of code that only some tasks run, such as `if is_chief:`.{unless}",
        retryable=bool(unless),
        shows_stacks=bool(unless),
    )


def _table(tasks: Sequence[TaskState]) -> str:
    return "\n".join(f"  {who}: {what}" for who, what in _grouped(tasks, lambda task: task.what))


def _grouped(tasks: Sequence[TaskState], what: Callable[[TaskState], str]) -> list[tuple[str, str]]:
    """Groups tasks by text; returns the names and text of each group."""
    groups: dict[str, list[TaskState]] = {}
    for task in tasks:
        groups.setdefault(what(task), []).append(task)
    return [(_names(group), text) for text, group in groups.items()]


def _names(tasks: Sequence[TaskState]) -> str:
    return some_of([task.name for task in tasks], _MAX_NAMES)


def _are(tasks: Sequence[TaskState]) -> str:
    return f"{_names(tasks)} {'is' if len(tasks) == 1 else 'are'}"
