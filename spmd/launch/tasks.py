"""The tasks of a job: its workers, and maybe a chief and an evaluator."""

import dataclasses
import itertools
from collections.abc import Iterable

from spmd.cluster import Task
from spmd.errors import LaunchError


def names_of(tasks: Iterable[Task]) -> str:
    """Names tasks on one line, many workers as a range.

    Examples:
        >>> names_of(Roles(workers=2, chief=True).training), names_of(Roles(workers=16).training)
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

    Raises:
        LaunchError: no task trains.

    Examples:
        >>> [str(task) for task in Roles(workers=1, chief=True, evaluator=True).all]
        ['chief 0', 'worker 0', 'evaluator 0']
    """

    workers: int
    chief: bool = False
    evaluator: bool = False

    def __post_init__(self) -> None:
        if self.workers < (0 if self.chief else 1):
            raise LaunchError(
                f"Expected a task that trains, but --workers is {self.workers}"
                f"{'' if self.chief else ' and there is no --chief'}. Write --workers 1, or more."
            )

    @property
    def training(self) -> tuple[Task, ...]:
        """The tasks that train, in the order of their process indices: the chief first."""
        chief = (Task("chief", 0),) if self.chief else ()
        return chief + tuple(Task("worker", index) for index in range(self.workers))

    @property
    def all(self) -> tuple[Task, ...]:
        """The tasks that train, then the evaluator."""
        return self.training + ((Task("evaluator", 0),) if self.evaluator else ())
