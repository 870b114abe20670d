"""Which workers an attempt has, where their number may change.

A job of `--workers 2:4` goes on with fewer workers after some were *lost*: something else than the launcher killed them, such
as the system when memory is short. After a while it *regrows*: it starts all of them again. A *slot* is the place of one
worker on this machine, with devices of its own; workers are numbered anew in each attempt, slots are not.
"""

import dataclasses
from collections.abc import Collection, Sequence

from spmd.cluster import Task
from spmd.launch.exit_status import was_killed
from spmd.launch.tasks import Roles, names_of


def was_lost(returncode: int, sent: Collection[int]) -> bool:
    """Tells whether something outside of the job killed a task: neither its own fault nor the launcher.

    Args:
        returncode: as `subprocess.Popen` gives it.
        sent: the signals that the launcher sent it.

    Examples:
        >>> was_lost(-9, []), was_lost(-9, [9]), was_lost(1, [])
        (True, False, False)
    """
    return was_killed(returncode) and -returncode not in sent


@dataclasses.dataclass(eq=False)
class Elastic:
    """The workers of the next attempt, of a job whose number of workers may change.

    Attributes:
        roles: the tasks of a job that has lost none.
        regrow_seconds: how long an attempt runs with fewer workers before all start again; 0 for ever.
        slots: of the workers of the next attempt, in the order of their indices.

    Examples:
        >>> elastic = Elastic(Roles(workers=4, min_workers=2), regrow_seconds=300.0)
        >>> elastic.lose([Task("worker", 1)])
        'worker 1 was lost; goes on with 3 of 4 workers, and tries 4 again in 300 s'
        >>> elastic.slots, str(elastic.slot_of(Task("worker", 1)))
        ([0, 2, 3], 'worker 2')
    """

    roles: Roles
    regrow_seconds: float
    slots: list[int] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.regrow()

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the next attempt that train."""
        return dataclasses.replace(self.roles, workers=len(self.slots)).cluster

    @property
    def is_complete(self) -> bool:
        """Whether the next attempt lacks no worker."""
        return len(self.slots) == self.roles.workers

    def slot_of(self, task: Task) -> Task:
        """Returns the task that has a task's slot when no worker is lost; a chief's and an evaluator's are their own."""
        if task.task_type != "worker":
            return task
        return Task("worker", self.slots[task.task_index])

    def lose(self, tasks: Sequence[Task]) -> str:
        """Takes the slots of lost workers from the next attempt, as long as enough remain.

        Args:
            tasks: what was lost, by the numbers of the attempt that has just ended; a chief is started again.

        Returns:
            What to say about it; empty if all that the attempt had start again.
        """
        lost = [task for task in tasks if task.task_type == "worker"]
        if not lost:
            return ""
        gone = {self.slots[task.task_index] for task in lost}
        left = [slot for slot in self.slots if slot not in gone]
        least = self.roles.min_workers or 0
        # Too few are left: some of those that were lost have to start again.
        spare = [slot for slot in range(self.roles.workers) if slot not in left]
        self.slots = sorted(left + spare[: max(0, least - len(left))])
        most = self.roles.workers
        text = f"{names_of(lost)} {'was' if len(lost) == 1 else 'were'} lost; goes on with {len(self.slots)} of {most} workers"
        if len(left) < least:
            text += f", the fewest that --workers {least}:{most} allows"
        if self.regrow_seconds and not self.is_complete:
            text += f", and tries {most} again in {self.regrow_seconds:g} s"
        return text

    def regrow(self) -> None:
        """Gives the next attempt all workers."""
        self.slots = list(range(self.roles.workers))
