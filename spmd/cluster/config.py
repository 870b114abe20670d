"""A cluster and which of its tasks this process is, checked as a whole.

The *tasks that train* are the chief and the workers. A *parameter server* (`ps`) holds variables for
them, and an *evaluator* reads their checkpoints; neither takes part in collectives. The *chief* is the
one that writes what only one process may write: the task `chief 0`, or `worker 0` if there is none.
"""

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from spmd.cluster.address import LAST_PORT, canonical_host, is_loopback, read_address, read_port
from spmd.errors import ClusterConfigError

_ROLES = ("chief", "worker", "ps", "evaluator")
_ALONE = ("chief", "evaluator")  # roles that a cluster has at most one task of


class Task(NamedTuple):
    """One task of a cluster.

    Attributes:
        task_type: the task's job, such as `"worker"`.
        task_index: its index in the job.
        address: `"host:port"`; None if it is not known, as that of an evaluator that the cluster does not list.
    """

    task_type: str
    task_index: int
    address: str | None = None

    def __str__(self) -> str:
        return f"{self.task_type} {self.task_index}"


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The tasks of a cluster, and which of them this process is.

    Attributes:
        jobs: addresses by job, in the order of task indices; jobs are `chief`, `worker`, `ps` and
            `evaluator`. `master`, the former name of the chief, becomes `chief`.
        task_type: job of this process.
        task_index: its index in the job.
        source: where this was read, for errors.

    Raises:
        ClusterConfigError: the parts do not make a cluster.

    Examples:
        >>> cluster = Cluster({"worker": ["a:1", "b:1"], "ps": ["c:1"]}, "worker", 1)
        >>> cluster.process_id, cluster.is_chief, str(cluster.processes[0])
        (1, False, 'worker 0')
    """

    jobs: Mapping[str, Sequence[str]]
    task_type: str
    task_index: int
    source: str = dataclasses.field(default="the arguments of Cluster", compare=False)

    def __post_init__(self) -> None:
        listed = {name: tuple(addresses) for name, addresses in self.jobs.items() if addresses}
        if {"chief", "master"} <= listed.keys():
            problem = "is the former name of chief, and both are there"
            self._fail("cluster.master", problem, '"chief" only')
        jobs = {_former(name): addresses for name, addresses in listed.items()}
        object.__setattr__(self, "jobs", MappingProxyType(jobs))
        object.__setattr__(self, "task_type", _former(self.task_type))
        self._check_jobs()
        self._check_task()
        self._check_addresses()

    @property
    def task(self) -> Task:
        """The task of this process."""
        addresses = self.jobs.get(self.task_type)
        address = addresses[self.task_index] if addresses else None
        return Task(self.task_type, self.task_index, address)

    @property
    def processes(self) -> tuple[Task, ...]:
        """The tasks that train: the chief, if there is one, then the workers."""
        return tuple(task for task in self._tasks() if task.task_type in ("chief", "worker"))

    @property
    def process_id(self) -> int | None:
        """Index of this process among the tasks that train; None if it does not train."""
        return self.processes.index(self.task) if self.task in self.processes else None

    @property
    def is_chief(self) -> bool:
        """Whether this process writes what only one may write; an evaluator is a chief of its own, as in TensorFlow."""
        return self.is_evaluator or self.process_id == 0

    @property
    def is_evaluator(self) -> bool:
        """Whether this process only evaluates checkpoints of the others."""
        return self.task_type == "evaluator"

    def _tasks(self) -> Iterator[Task]:
        for job in _ROLES:
            for index, address in enumerate(self.jobs.get(job, ())):
                yield Task(job, index, address)

    def _fail(self, key: str, problem: str, fix: str) -> NoReturn:
        # A name in it may be of any length.
        said = f'"{key:.200}" in {self.source} {problem:.1000}. Write {fix:.500}.'
        raise ClusterConfigError(said, key=key)

    def _check_jobs(self) -> None:
        for job, addresses in self.jobs.items():
            if job not in _ROLES:
                problem = f"is not a role; the roles are {', '.join(_ROLES)}"
                self._fail(f"cluster.{job}", problem, f'"{_closest(job)}": [...]')
            if job in _ALONE and len(addresses) > 1:
                problem = f"has {len(addresses)} addresses, but a cluster has at most one {job}"
                fix = f'"{job}": ["{addresses[0]}"], and the others as "worker"'
                self._fail(f"cluster.{job}", problem, fix)
        if not self.processes and not self.is_evaluator:
            problem = f"lists no task that trains, only {_listed(self.jobs)}"
            self._fail("cluster", problem, '"worker": ["host0:2222", ...] into it')

    def _check_task(self) -> None:
        type_, index = self.task_type, self.task_index
        # A resolver hands on whatever a script gave it.
        if not isinstance(type_, str):
            self._fail("task.type", f"is {type_!r:.80}, not a string", '"worker"')
        if not isinstance(index, int) or isinstance(index, bool):
            self._fail("task.index", f"is {index!r:.80}, not an integer", "0")
        if type_ not in _ROLES or (type_ not in self.jobs and type_ != "evaluator"):
            problem = f'is "{type_}", but the cluster has {_listed(self.jobs)}'
            fix = f'"type": "{_closest(type_, self.jobs)}", or add "{type_}" to "cluster"'
            self._fail("task.type", problem, fix)
        count = len(self.jobs.get(type_, ("an evaluator need not be listed",)))
        if not 0 <= index < count:
            problem = (
                f'is {index}, but "cluster" lists {count} {type_}(s): indices are 0 to {count - 1}'
            )
            fix = f'a smaller "index", or add the address of {type_} {index} to "cluster.{type_}"'
            self._fail("task.index", problem, fix)

    def _check_addresses(self) -> None:
        seen: dict[str, Task] = {}
        loopback: list[Task] = []
        for task in self._tasks():
            key = f"cluster.{task.task_type}[{task.task_index}]"
            host, port = self._host_and_port(key, task.address)
            other = seen.setdefault(f"{canonical_host(host)}:{port}", task)
            if other is not task:
                problem = f"is {task.address}, which is also the address of {other}; every task needs its own"
                self._fail(key, problem, "another host, or another port on the same host")
            if is_loopback(host.strip("[]")):
                loopback.append(task)
        # A cluster with only loopback addresses runs on one machine. Between machines, a task may list only itself
        # that way: its server listens on all interfaces.
        remote = next((task for task in self._tasks() if task not in loopback), None)
        task = next((task for task in loopback if task != self.task), None)
        if remote and task:
            self._fail(
                f"cluster.{task.task_type}[{task.task_index}]",
                f"is {task.address}, which on {self.task} means {self.task}'s own machine, while {remote} is at "
                f"{remote.address}: {task} cannot be reached there",
                f"the name or address by which other machines reach {task}",
            )

    def _host_and_port(self, key: str, address: object) -> tuple[str, int]:
        if not isinstance(address, str):
            self._fail(key, f"is {address!r:.80}, not a string", '"host:port"')
        bare = re.sub(r"^[a-z+]+://", "", address)
        host, text = read_address(address) or ("", None)
        port = read_port(text)
        if port is not None:
            return host.lower(), port
        if text is not None and text.isascii() and text.isdigit():
            fix = f'"{host:.60}:2222"'
            self._fail(key, f"has port {text:.20}, but ports are 1 to {LAST_PORT}", fix)
        if read_port((read_address(bare) or ("", None))[1]) is not None:
            self._fail(key, f"is {address!r:.80}, an address with a protocol", f'"{bare}"')
        name = re.match(r"[\w.-]+", address)
        problem = f'is {address!r:.80}, not "host:port", with a number for the port and brackets around an IPv6 address'
        self._fail(key, problem, f'"{name[0]:.60}:2222"' if name else '"host:2222"')


def from_tasks(
    jobs: Mapping[str, Mapping[int, str] | Sequence[str]],
    task_type: str | None,
    task_index: int | None,
    source: str,
) -> Cluster | None:
    """Makes a cluster from a description, parts of which may be missing.

    Args:
        jobs: for each job its addresses, or addresses by task index.
        task_type: job of this process.
        task_index: its index in the job.
        source: where this was read, for errors.

    Returns:
        The cluster; None if it lists no task, which means one process.

    Raises:
        ClusterConfigError: the parts do not make a cluster.

    Examples:
        >>> from_tasks({"worker": {1: "b:1", 0: "a:1"}}, "worker", 1, "an example").jobs["worker"]
        ('a:1', 'b:1')
    """
    if not any(jobs.values()):
        if not task_index:
            return None
        raise ClusterConfigError(
            f'"cluster" in {source} lists no task, but this is {task_type} {task_index}, so there must be other tasks. '
            'Add "cluster": {"worker": ["host0:2222", ...]}, or leave the task out to train in one process.',
            key="cluster",
        )
    if task_type is None or task_index is None:
        key = "task.type" if task_type is None else "task.index"
        raise ClusterConfigError(
            f'"{key}" is not in {source}, so this process does not know which task of the cluster it is. Add '
            '"task": {"type": "worker", "index": 0} to TF_CONFIG, or task_type="worker", task_id=0 to a '
            "resolver, with this process's own type and index.",
            key=key,
        )
    listed = {job: _addresses(job, tasks, source) for job, tasks in jobs.items()}
    return Cluster(listed, task_type, task_index, source)


def _addresses(job: str, tasks: Mapping[int, str] | Sequence[str], source: str) -> Sequence[str]:
    if not isinstance(tasks, Mapping):
        return tasks
    missing = set(range(len(tasks))) - set(tasks)
    if missing:
        raise ClusterConfigError(
            f'"cluster.{job}" in {source} has the indices {", ".join(map(str, sorted(tasks)))}, without '
            f'{min(missing)}: every process must know all addresses. Add "{min(missing)}": "host:port".',
            key=f"cluster.{job}",
        )
    return [tasks[index] for index in range(len(tasks))]


def _former(job: str) -> str:
    return "chief" if job == "master" else job


def _closest(job: str, among: Mapping[str, object] | tuple[str, ...] = _ROLES) -> str:
    close = difflib.get_close_matches(job, list(among), n=1, cutoff=0.4)
    return close[0] if close else "worker" if "worker" in among else next(iter(among))


def _listed(jobs: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{len(addresses)} {job}" for job, addresses in jobs.items()) or "no task"
