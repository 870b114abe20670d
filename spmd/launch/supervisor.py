"""Runs all processes of a job on this machine, from start to end."""

import signal
import sys
import time
from collections.abc import Mapping, Sequence

from spmd.cluster import Task
from spmd.launch.devices import devices_of_tasks
from spmd.launch.gang import Gang
from spmd.launch.guard import Guard
from spmd.launch.job import RESTART_VARIABLE
from spmd.launch.output import Printer
from spmd.launch.process import Process
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.signals import stop_signals
from spmd.launch.summary import summarize
from spmd.launch.tasks import Roles
from spmd.launch.write_tf_config import cluster_of, free_addresses, write_tf_config

# Polls now and then even if no signal comes: one that comes too close to another can be lost.
_POLL_SECONDS = 1.0


def supervise(
    words: Sequence[str],
    roles: Roles,
    environment: Mapping[str, str],
    devices_per_worker: int | None,
    policy: RestartPolicy,
) -> int:
    """Runs a script as all tasks of a job; blocks until they have ended. For the main thread.

    Args:
        words: what comes after `python`: a script, or `-m` and a module, and arguments.
        roles: the tasks.
        environment: environment variables of all tasks.
        devices_per_worker: devices of each task; None for an equal share of the GPUs, or one CPU device.
        policy: when to restart, and how long to wait for tasks to end.

    Returns:
        0 if all succeeded, otherwise the exit status of the task that failed first.

    Raises:
        LaunchError: this machine lacks the devices for these tasks.
    """
    devices = devices_of_tasks(roles, devices_per_worker, environment)
    printer = Printer(sys.stdout, sys.stderr)

    def start(tasks: Sequence[Task], attempt: int, guard: Guard) -> list[Process]:
        cluster = cluster_of(roles.training, free_addresses(len(roles.training)))
        # Python buffers what it prints into a pipe, and loses the buffer when it is killed.
        common = {"PYTHONUNBUFFERED": "1", **environment, RESTART_VARIABLE: str(attempt)}
        command = [sys.executable, *words]
        own = [{**devices[task], "TF_CONFIG": write_tf_config(cluster, task)} for task in tasks]
        return [
            Process(task, command, {**common, **variables}, printer, guard)
            for task, variables in zip(tasks, own, strict=True)
        ]

    parts = [roles.training, *([roles.all[-1:]] if roles.evaluator else [])]
    gangs = [Gang(tasks, start, policy, printer) for tasks in parts]
    began = time.monotonic()
    try:
        _run(gangs, policy.evaluator_seconds, printer)
        summarize(gangs, time.monotonic() - began, printer)
    finally:
        printer.close(5)
    return next(filter(None, (gang.status for gang in gangs)), 0)


def _run(gangs: Sequence[Gang], evaluator_seconds: float, printer: Printer) -> None:
    training, evaluator = gangs[0], gangs[1] if len(gangs) > 1 else None
    interrupted = False
    evaluator_deadline = float("inf")
    with stop_signals() as wait:
        try:
            for gang in gangs:
                gang.begin()
            while not all(gang.ended for gang in gangs):
                until = min(evaluator_deadline, *(gang.deadline for gang in gangs))
                for number in wait(min(_POLL_SECONDS, until - time.monotonic())):
                    _forward(number, gangs, printer, again=interrupted)
                    interrupted = True
                for gang in gangs:
                    gang.poll()
                if evaluator is None or evaluator.ended or evaluator.is_last_attempt:
                    continue
                if not training.ended:
                    continue
                if training.failed:
                    evaluator.stop(signal.SIGTERM, "the training failed", forgive=True)
                elif evaluator_deadline == float("inf"):
                    evaluator_deadline = time.monotonic() + evaluator_seconds
                    left = f"{evaluator_seconds:g} s to end by itself"
                    printer.say(f"the training is over; the evaluator has {left}")
                elif time.monotonic() >= evaluator_deadline:
                    evaluator_deadline = float("inf")
                    evaluator.stop(signal.SIGTERM, "the evaluator's time is over", forgive=True)
        finally:
            for gang in gangs:
                gang.kill()


def _forward(number: int, gangs: Sequence[Gang], printer: Printer, again: bool) -> None:
    name = signal.Signals(number).name
    if again:
        printer.say(f"{name} again: SIGKILL to all")
        for gang in gangs:
            gang.kill()
        return
    for gang in gangs:
        # Scripts save their work on SIGTERM, not when a terminal hangs up.
        forwarded = signal.SIGTERM if number == signal.SIGHUP else number
        gang.stop(forwarded, f"{name} (once more to kill at once)")
