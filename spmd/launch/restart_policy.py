"""What happens when tasks fail: whether they start again, when, and how long the others may take to end.

A *failure* is the first task of an attempt that failed; the others fail because of it. Each failure counts as a restart:
a launcher cannot tell a preemption, a lack of memory and a Python error apart.

There is no third attempt if two in a row end within seconds, with the same exit code and the same last line of standard
error, as with a missing module. Signals and the exit code that asks for a restart never count as "the same": they come from
outside the script.
"""

import dataclasses
from collections.abc import Sequence
from itertools import takewhile

from spmd.cluster import RETRYABLE_EXIT_CODE
from spmd.launch.checks import check_number

_LONGEST_DELAY = 60.0
_MOST_DOUBLINGS = 60  # more would overflow a float
# Starting Python, JAX and a cluster takes some seconds; an attempt that lasts longer may have made progress.
_AT_ONCE = 30.0


@dataclasses.dataclass(frozen=True)
class Failure:
    """The first task of an attempt that failed.

    Attributes:
        attempt: number of the attempt, from 0.
        returncode: as `subprocess.Popen` gives it.
        seconds: how long the task ran.
        last_lines: the end of its standard error.
    """

    attempt: int
    task: str
    returncode: int
    seconds: float
    last_lines: tuple[str, ...] = ()

    def repeats(self, other: "Failure") -> bool:
        """Tells whether two attempts failed in the same way, at once, so that another would too."""
        return (
            self.returncode == other.returncode > 0
            and self.returncode != RETRYABLE_EXIT_CODE
            and self.last_lines[-1:] == other.last_lines[-1:]
            and max(self.seconds, other.seconds) < _AT_ONCE
        )


@dataclasses.dataclass(frozen=True)
class RestartPolicy:
    """How often to start again, and how long to wait: before each restart, and for tasks to end.

    Attributes:
        max_restarts: number of restarts; 0 for none.
        backoff_seconds: wait before the first restart; it doubles each time, up to a minute. A task that ran
            for more than a minute resets it.
        grace_seconds: from SIGTERM to SIGKILL.
        evaluator_seconds: from the end of the training to SIGTERM for an evaluator that still runs.
        regrow_seconds: how long an attempt runs with fewer workers than there may be before all start again; 0 for ever.

    Raises:
        LaunchError: a number is negative, no number, or above a million.

    Examples:
        >>> policy = RestartPolicy(max_restarts=3)
        >>> policy.decide([Failure(0, "worker 0", -9, seconds=5.0)])
        1.0
        >>> policy.decide([Failure(n, "worker 0", -9, seconds=5.0) for n in range(4)])
        'all 3 restarts are used up (--max-restarts 3)'
    """

    max_restarts: int = 3
    backoff_seconds: float = 1.0
    grace_seconds: float = 30.0
    evaluator_seconds: float = 300.0
    regrow_seconds: float = 300.0

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            check_number(f"--{name.replace('_', '-')}", value)

    def decide(self, failures: Sequence[Failure], former: int = 0) -> float | str:
        """Decides after a failed attempt, from the failures of all attempts so far.

        Args:
            failures: those that are known.
            former: how many there were before them, of which nothing else is known.

        Returns:
            Seconds to wait before the next attempt, or why there is none.
        """
        most = self.max_restarts
        if not most:
            return "restarts are switched off (--max-restarts 0)"
        if former + len(failures) > most:
            return f"all {most} restarts are used up (--max-restarts {most})"
        latest = failures[-1]
        if len(failures) > 1 and latest.repeats(failures[-2]):
            return (
                f"two attempts in a row ended within {_AT_ONCE:.0f} s with exit code {latest.returncode} and the "
                "same last line of standard error, so another one would end in the same way"
            )
        short = takewhile(lambda failure: failure.seconds <= _LONGEST_DELAY, reversed(failures))
        doublings = min(max(0, len(list(short)) - 1), _MOST_DOUBLINGS)
        return min(_LONGEST_DELAY, self.backoff_seconds * 2.0**doublings)
