"""The tasks of a job: its workers, and maybe a chief, parameter servers and an evaluator."""

import dataclasses
import itertools
from collections.abc import Iterable

from spmd.cluster import Task
from spmd.errors import LaunchError
from spmd.launch.checks import MOST_TASKS, check_number


def check_workers_only(roles: "Roles", option: str) -> None:
    """Raises LaunchError if there are other tasks than workers, where an agent runs one on each machine.

    Args:
        roles: the tasks.
        option: what asks for agents.
    """
    if len(roles.all) > roles.workers:
        extra = "--ps" if roles.ps else "--chief" if roles.chief else "--evaluator"
        raise LaunchError(
            f"Expected workers only, since with {option} each machine runs one, and worker 0 is the chief, but there is {extra}. "
            "Leave it out; an evaluator is a job of its own: --workers 1."
        )


def names_of(tasks: Iterable[Task]) -> str:
    """Names tasks on one line, many workers as a range.

    Examples:
        >>> names_of(Roles(workers=2, chief=True).all), names_of(Roles(workers=16).all)
        ('chief 0, worker 0, worker 1', 'worker 0 to 15')
    """
    texts: list[str] = []
    for kind, group in itertools.groupby(tasks, key=lambda task: task.task_type):
        indices = [task.task_index for task in group]
        if len(indices) > 3 and indices == list(range(indices[0], indices[-1] + 1)):
            texts.append(f"{kind} {indices[0]} to {indices[-1]}")
        else:
            texts.extend(f"{kind} {index}" for index in indices)
    return ", ".join(texts)


@dataclasses.dataclass(frozen=True)
class Roles:
    """How many tasks of each type a job has.

    Attributes:
        workers: number of workers, besides the chief if there is one.
        chief: whether there is a chief; without one, `worker 0` is the chief.
        evaluator: whether there is an evaluator, which takes no part in the training.
        ps: number of parameter servers. With some, the chief coordinates: it has the workers compute, and parameter
            servers and workers serve until it ends.
        min_workers: the fewest workers that the job goes on with when some are lost; None if their number is fixed.

    Raises:
        LaunchError: no task trains, there are far too many, parameter servers lack a chief or a worker, or the fewest workers
            are none, or more than there are.

    Examples:
        >>> [str(task) for task in Roles(workers=1, chief=True, evaluator=True).all]
        ['chief 0', 'worker 0', 'evaluator 0']
    """

    workers: int
    chief: bool = False
    evaluator: bool = False
    ps: int = 0
    min_workers: int | None = None

    def __post_init__(self) -> None:
        check_number("--ps", self.ps, most=MOST_TASKS)
        if self.workers > MOST_TASKS:
            check_number("--workers", self.workers, least=1, most=MOST_TASKS)
        if self.ps and not (self.chief and self.workers > 0):
            raise LaunchError(
                f"Expected a chief that coordinates and workers that compute, since --ps is {self.ps}, but there is "
                f"{'no worker' if self.chief else 'no chief'}. Write --ps {self.ps} --workers {max(1, self.workers)} --chief."
            )
        if self.workers < (0 if self.chief else 1):
            raise LaunchError(
                f"Expected a task that trains, but --workers is {self.workers}"
                f"{'' if self.chief else ' and there is no --chief'}. Write --workers 1, or more."
            )
        if self.min_workers is not None:
            self._check_min_workers(self.min_workers)

    @property
    def cluster(self) -> tuple[Task, ...]:
        """The tasks that TF_CONFIG lists: the chief, the workers, the parameter servers."""
        chief = (Task("chief", 0),) if self.chief else ()
        servers = tuple(Task("ps", index) for index in range(self.ps))
        return chief + self._workers + servers

    @property
    def computing(self) -> tuple[Task, ...]:
        """The tasks that need devices, in the order of their process indices: all in synchronous training, else the workers."""
        return self._workers if self.ps else self.cluster

    @property
    def all(self) -> tuple[Task, ...]:
        """The tasks of the cluster, then the evaluator."""
        return self.cluster + ((Task("evaluator", 0),) if self.evaluator else ())

    @property
    def gangs(self) -> tuple[tuple[Task, ...], ...]:
        """The tasks that start again together: all that train synchronously; each alone where there are parameter servers."""
        together = tuple((task,) for task in self.cluster) if self.ps else (self.cluster,)
        return together + tuple((task,) for task in self.all[len(self.cluster) :])

    def serves(self, task: Task) -> bool:
        """Tells whether a task goes on until it is stopped: parameter servers do, and workers that have some."""
        return self.ps > 0 and task.task_type in ("worker", "ps")

    def _check_min_workers(self, least: int) -> None:
        found = f"--workers is {least}:{self.workers}"
        if self.ps:
            raise LaunchError(
                f"Expected a number of workers, since --ps is {self.ps}, but {found}. With parameter servers each worker starts "
                f"again alone, and the others go on without it. Write --workers {max(1, self.workers)}."
            )
        if least > self.workers:
            raise LaunchError(
                f"Expected --workers MIN:MAX with the fewest first, but {found}. Write --workers {self.workers}:{least}."
            )
        if least < (0 if self.chief else 1):
            raise LaunchError(
                f"Expected a task that trains however many are lost, but {found}"
                f"{'' if self.chief else ' and there is no --chief'}. Write --workers {int(not self.chief)}:{self.workers}."
            )

    @property
    def _workers(self) -> tuple[Task, ...]:
        return tuple(Task("worker", index) for index in range(self.workers))
