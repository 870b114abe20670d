"""Runs all processes of a job on this machine, from start to end."""

import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from spmd.cluster import RESTART_VARIABLE, Task
from spmd.launch.devices import devices_of_tasks
from spmd.launch.elastic import Elastic
from spmd.launch.gang import Gang
from spmd.launch.gangs import Gangs
from spmd.launch.guard import Guard
from spmd.launch.job import JOB_VARIABLE
from spmd.launch.output import Printer
from spmd.launch.process import Process
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.signals import stop_signals
from spmd.launch.summary import summarize
from spmd.launch.tasks import Roles
from spmd.launch.token import token_file
from spmd.launch.write_tf_config import (
    cluster_of,
    free_addresses,
    lasting_addresses,
    write_tf_config,
)

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
    try:
        with token_file(environment) if len(roles.cluster) > 1 else nullcontext({}) as token:
            return _supervise(words, roles, {**environment, **token}, devices, policy, printer)
    finally:
        printer.close(5)


def _supervise(
    words: Sequence[str],
    roles: Roles,
    environment: Mapping[str, str],
    devices: Mapping[Task, Mapping[str, str]],
    policy: RestartPolicy,
    printer: Printer,
) -> int:
    # A task that starts again alone has to be where the others look for it.
    job = uuid.uuid4().hex
    elastic = None if roles.min_workers is None else Elastic(roles, policy.regrow_seconds)
    lasting = lasting_addresses(len(roles.cluster)) if roles.ps else None

    def start(tasks: Sequence[Task], attempt: int, guard: Guard) -> list[Process]:
        trains = roles.cluster if elastic is None else elastic.tasks
        cluster = cluster_of(trains, lasting or free_addresses(len(trains)))
        # Python buffers what it prints into a pipe, and loses the buffer when it is killed.
        common = {
            **{"PYTHONUNBUFFERED": "1", **environment},
            **{RESTART_VARIABLE: str(attempt), JOB_VARIABLE: job},
        }
        command = [sys.executable, *words]
        slots = tasks if elastic is None else map(elastic.slot_of, tasks)
        own = [
            {**devices[slot], "TF_CONFIG": write_tf_config(cluster, task)}
            for slot, task in zip(slots, tasks, strict=True)
        ]
        return [
            Process(task, command, {**common, **variables}, printer, guard)
            for task, variables in zip(tasks, own, strict=True)
        ]

    made = [
        Gang(
            *(tasks, start, policy, printer, roles.serves(tasks[0])),
            elastic if tasks == roles.cluster else None,
        )
        for tasks in roles.gangs
    ]
    gangs = Gangs(
        training=made[0],
        servers=[gang for gang in made if gang.serves],
        evaluator=made[-1] if roles.evaluator else None,
        evaluator_seconds=policy.evaluator_seconds,
        printer=printer,
    )
    began = time.monotonic()
    with stop_signals() as wait:
        try:
            gangs.begin()
            while not gangs.ended:
                for number in wait(min(_POLL_SECONDS, gangs.deadline - time.monotonic())):
                    gangs.forward(number)
                gangs.poll()
        finally:
            gangs.kill()
    summarize(gangs.all, time.monotonic() - began, printer, words)
    return gangs.status
