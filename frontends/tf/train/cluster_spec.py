"""`tf.train.ClusterSpec`: the addresses of a cluster's tasks."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

# Addresses by task index, where some indices may be missing, or in order.
Tasks: TypeAlias = Mapping[int, str] | Sequence[str]


class ClusterSpec:
    """Addresses by job and task index.

    Args:
        cluster: a list of addresses for each job, or a dict from task index to address; or another `ClusterSpec`.

    Raises:
        TypeError: it is neither.

    Examples:
        >>> cluster = ClusterSpec({"worker": ["a:1", "b:1"], "ps": {1: "c:1"}})
        >>> cluster
        ClusterSpec({'ps': {1: 'c:1'}, 'worker': ['a:1', 'b:1']})
        >>> cluster.task_address("worker", 1)
        'b:1'

    Source: `tf.train.ClusterSpec`.
    """

    def __init__(self, cluster: "Mapping[Any, Tasks] | ClusterSpec") -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster._tasks
        if not isinstance(cluster, Mapping):
            raise TypeError(
                "A cluster is a dict from job names to lists of addresses, but this is "
                f'{type(cluster).__name__}: {cluster!r:.80}. Write tf.train.ClusterSpec({{"worker": '
                '["host0:2222", "host1:2222"]}).'
            )
        self._tasks: dict[str, dict[int, str]] = {}
        for job, tasks in cluster.items():
            if not isinstance(job, str):
                raise TypeError(f'The name of a job is a string such as "worker", not {job!r:.80}.')
            self._tasks[job] = _by_index(job, tasks)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return self._tasks == (other._tasks if isinstance(other, ClusterSpec) else other)

    def __repr__(self) -> str:
        tasks = self.as_dict()
        return f"ClusterSpec({{{', '.join(f'{job!r}: {tasks[job]!r}' for job in sorted(tasks))}}})"

    def as_dict(self) -> dict[str, list[str] | dict[int, str]]:
        """Returns for each job a list of addresses, or a dict by task index where some are missing."""
        return {
            job: [tasks[index] for index in range(len(tasks))]
            if tasks and max(tasks) + 1 == len(tasks)
            else dict(sorted(tasks.items()))
            for job, tasks in self._tasks.items()
        }

    @property
    def jobs(self) -> list[str]:
        """Names of the jobs."""
        return list(self._tasks)

    def num_tasks(self, job_name: str) -> int:
        """Counts the tasks of a job.

        Raises:
            ValueError: there is no such job.
        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Lists the task indices of a job, in order.

        Raises:
            ValueError: there is no such job.
        """
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Looks up the address of a task.

        Raises:
            ValueError: there is no such job, or no such task in it.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(
                f"No task with index {task_index!r} in job {job_name!r}, which has {sorted(tasks)}. Add its "
                "address to the cluster, or correct the index."
            )
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Lists an address for every index of a job up to the largest, None where there is no task.

        Raises:
            ValueError: there is no such job.
        """
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._tasks:
            raise ValueError(
                f"No such job in cluster: {name!r}; it has {', '.join(self._tasks) or 'no jobs'}. Add the "
                "job, or ask for one of these."
            )
        return self._tasks[name]


def _by_index(job: str, tasks: Tasks) -> dict[int, str]:
    by_index: Any = dict(enumerate(tasks)) if isinstance(tasks, (list, tuple)) else tasks
    try:
        found = {int(index): address for index, address in by_index.items()}
    except (AttributeError, TypeError, ValueError):
        found = None
    if found is None or min(found, default=0) < 0:
        raise TypeError(
            f"The tasks for job {job!r} must be a list of addresses or a dictionary from integers to "
            f'addresses, but they are {tasks!r:.80}. Write {{"{job}": ["host0:2222"]}}.'
        )
    for index, address in found.items():
        if not isinstance(address, str):
            raise TypeError(
                f"The address of {job} {index} is {address!r:.80}, not a string. Write "
                f'"host{index}:2222" instead.'
            )
    return found
