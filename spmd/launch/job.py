"""A job, as the manifests describe it to other machines."""

import dataclasses
import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from spmd.errors import LaunchError
from spmd.launch.checks import MOST_SECONDS, check_number, check_port, check_text, check_variable
from spmd.launch.tasks import Roles
from spmd.topology import simulation_environment

# TensorFlow's own default, and that of Kubeflow's training operator.
DEFAULT_PORT = 2222
# A week, and more often than machines are taken away in one.
DEADLINE_SECONDS, MAX_INTERRUPTIONS = 7 * 24 * 3600, 100
# How long the agents of an elastic job wait: those that are there for more of them, and each for the one that leads.
SETTLE_SECONDS, JOIN_SECONDS = 30.0, 600.0
# Names the job: the same for all tasks, and after a restart, and another one for each launch.
JOB_VARIABLE = "JAXTRIBUTE_JOB"

_NAME = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")


@dataclasses.dataclass(frozen=True)
class Job:
    """A script, the tasks that run it, and their settings.

    Attributes:
        name: the job's name, of lower-case letters, digits and dashes, 40 at most.
        words: what comes after `python`: a script, or `-m` and a module, and arguments.
        roles: the tasks, each on a machine of its own.
        environment: environment variables of all tasks.
        devices_per_worker: devices of each task that trains; None if unspecified.
        port: the port that each task listens on.
        max_restarts: how often the tasks start again when one fails.
        grace_seconds: how long a task may take to end when asked to.
        deadline_seconds: how long the job may take with all restarts, however it fails.
        health_port: the port on which tasks tell of their health; None if they do not.
        max_interruptions: how often it starts again without having failed, because machines were taken away.
        token: the secret that tasks prove to each other; empty if they need none, or have one already.
        settle_seconds: how long an elastic job waits for more agents before it starts with fewer workers than there may be.
        join_seconds: how long its agents wait for enough of them, and for the one that leads.
        backoff_seconds: how long they wait before the first restart.
        references: names of further environment variables, whose values are secret: they are not written down.

    Raises:
        LaunchError: the name, the port, a variable or a number is invalid.
    """

    name: str
    words: tuple[str, ...]
    roles: Roles
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    devices_per_worker: int | None = None
    port: int = DEFAULT_PORT
    max_restarts: int = 3
    grace_seconds: int = 30
    deadline_seconds: int = DEADLINE_SECONDS
    max_interruptions: int = MAX_INTERRUPTIONS
    health_port: int | None = None
    settle_seconds: float = SETTLE_SECONDS
    join_seconds: float = JOIN_SECONDS
    backoff_seconds: float = 1.0
    token: str = dataclasses.field(default="", repr=False)
    references: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise LaunchError(
                f"Expected a name of at most 40 lower-case letters, digits and dashes that begins with a letter, "
                f"but --name is {self.name!r}. Write, for example, --name {name_of(self.name)}."
            )
        check_port("--port", str(self.port))
        if self.health_port is not None:
            check_port("--health-port", str(self.health_port))
            if self.health_port == self.port:
                raise LaunchError(
                    f"Expected a port of its own for health, but --health-port and --port are both {self.port}. Write, for "
                    "example, --health-port 8080."
                )
        check_number("--max-restarts", self.max_restarts)
        check_number("--grace-seconds", self.grace_seconds)
        check_number("--deadline-seconds", self.deadline_seconds, 1, MOST_SECONDS)
        check_number("--max-interruptions", self.max_interruptions)
        check_number("--settle-seconds", self.settle_seconds)
        check_number("--join-seconds", self.join_seconds)
        check_number("--backoff-seconds", self.backoff_seconds)
        for name, value in self.environment.items():
            check_variable(name, value)
        for name in self.references:
            check_variable(name, "")
        for word in self.words:
            check_text("the command", word)

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the command, with the `python` of the machine that runs it."""
        return ("python", *self.words)

    def agent_command(self, endpoint: str) -> tuple[str, ...]:
        """Makes the words of the command of each machine of an elastic job.

        Args:
            endpoint: `host:port`, where the agents of the job meet.

        Examples:
            >>> job = Job("train", ("train.py",), Roles(4, min_workers=2), grace_seconds=60)
            >>> print(*job.agent_command("node0:2222"))
            jaxtribute launch --rendezvous node0:2222 --workers 2:4 --grace-seconds 60 train.py
        """
        options = [
            ("--devices-per-worker", self.devices_per_worker, None),
            ("--max-restarts", self.max_restarts, Job.max_restarts),
            ("--backoff-seconds", self.backoff_seconds, Job.backoff_seconds),
            ("--grace-seconds", self.grace_seconds, Job.grace_seconds),
            ("--max-interruptions", self.max_interruptions, MAX_INTERRUPTIONS),
            ("--settle-seconds", self.settle_seconds, SETTLE_SECONDS),
            ("--join-seconds", self.join_seconds, JOIN_SECONDS),
        ]
        changed = [
            word
            for option, value, default in options
            if value != default
            for word in (option, str(value) if isinstance(value, int) else f"{value:g}")
        ]
        workers = f"{self.roles.min_workers}:{self.roles.workers}"
        where = ("jaxtribute", "launch", "--rendezvous", endpoint, "--workers", workers)
        return (*where, *changed, *self.words)

    @property
    def on_cpu(self) -> bool:
        """Whether `JAX_PLATFORMS` selects the CPU."""
        return self.environment.get("JAX_PLATFORMS", "").split(",")[0] == "cpu"

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables of all tasks, including those that simulate devices."""
        return self.variables_of("worker")

    def variables_of(self, kind: str) -> dict[str, str]:
        """Makes the environment variables of the tasks of a type; a parameter server computes on the processor."""
        own: dict[str, str] = {}
        if kind == "ps":
            own = {"JAX_PLATFORMS": "cpu"}
        elif self.on_cpu and self.devices_per_worker is not None:
            own = simulation_environment(self.devices_per_worker, self.environment)
        return {"PYTHONUNBUFFERED": "1", **self.environment, **own}

    @property
    def title(self) -> str:
        """One line that describes the job, for the head of a file."""
        count = len(self.roles.all)
        # An argument with a line break would end the comment.
        command = textwrap.shorten(shlex.join(self.command), 80, placeholder=" ...")
        return f"{command}: {count} {'task' if count == 1 else 'tasks'}"


def name_of(text: str) -> str:
    """Derives a valid name of a `Job` from that of a file or module.

    Examples:
        >>> name_of("examples/Train_mnist.py"), name_of("package.train"), name_of("1.py")
        ('train-mnist', 'package-train', 'job-1')
    """
    stem = PurePath(text.removesuffix(".py")).name.lower()
    name = re.sub(r"[^a-z0-9]+", "-", stem).strip("-")
    name = name if name[:1].isalpha() else f"job-{name}"
    return name[:40].strip("-")
