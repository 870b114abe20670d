"""What a leader tells an agent when an attempt starts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_MOST = 1 << 31


class Start(NamedTuple):
    """The worker that an agent is to start.

    Attributes:
        attempt: the number of the attempt, from 0.
        task: index of the worker.
        addresses: of all workers.
        job: the name of the job.
        restarts: how often the job has started again because a worker had failed.
        interruptions: how often it has because agents were lost, or came.
    """

    attempt: int
    task: int
    addresses: Sequence[str]
    job: str
    restarts: int = 0
    interruptions: int = 0

    def message(self) -> dict[str, Any]:
        """Writes what the leader sends.

        Examples:
            >>> Start.read(Start(0, 1, ["a:1", "b:1"], "4f2c").message()).task
            1
        """
        return {"start": self._asdict()}

    @classmethod
    def read(cls, message: Mapping[str, Any]) -> "Start | None":
        """Reads what a leader has sent; None if it tells nobody to start anything."""
        match message.get("start"):
            case {
                "attempt": int(attempt),
                "task": int(task),
                "addresses": [*addresses],
                "job": str(job),
                "restarts": int(restarts),
                "interruptions": int(interruptions),
            } if (
                all(0 <= count < _MOST for count in (attempt, restarts, interruptions))
                and 0 <= task < len(addresses)
                and all(isinstance(address, str) for address in addresses)
                and job.isascii()
                and job.isprintable()
            ):
                return cls(attempt, task, addresses, job, restarts, interruptions)
            case _:
                return None
