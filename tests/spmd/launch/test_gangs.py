"""What the end of one task means for the others, with tasks that end when a test says so."""

import io
import signal
from collections.abc import Iterator

import pytest

from spmd.cluster import Task
from spmd.launch.gang import Gang
from spmd.launch.gangs import Gangs
from spmd.launch.last_lines import LastLines
from spmd.launch.output import Printer
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.tasks import Roles

ROLES = Roles(2, chief=True, ps=1)


class FakeProcess:
    """A task that runs until a test ends it; signals end it too."""

    def __init__(self, task: Task, attempt: int) -> None:
        self.task, self.attempt = task, attempt
        self.returncode: int | None = None
        self.number, self.seconds, self.last_lines = 0, 40.0, LastLines()
        self.signals: list[int] = []

    def has_ended(self) -> bool:
        return self.returncode is not None

    def send(self, signal_number: int) -> None:
        self.signals.append(signal_number)
        if self.returncode is None:
            self.returncode = -signal_number

    def drain(self, seconds: float) -> None: ...


class Job:
    """The gangs of a job, and the processes of each task, the latest last."""

    def __init__(self, roles: Roles, printer: Printer, restarts: int = 1) -> None:
        self.started: dict[str, list[FakeProcess]] = {}
        policy = RestartPolicy(restarts, backoff_seconds=0.0)
        made = [
            Gang(tasks, self.start, policy, printer, roles.serves(tasks[0]))
            for tasks in roles.gangs
        ]
        servers = [gang for gang in made if gang.serves]
        evaluator = made[-1] if roles.evaluator else None
        self.gangs = Gangs(made[0], servers, evaluator, 300.0, printer)
        self.gangs.begin()

    def start(self, tasks, attempt, guard) -> list[FakeProcess]:
        processes = [FakeProcess(task, attempt) for task in tasks]
        for process in processes:
            self.started.setdefault(str(process.task), []).append(process)
        return processes

    def end(self, task: str, returncode: int) -> None:
        self.started[task][-1].returncode = returncode
        for _ in range(3):
            self.gangs.poll()

    @property
    def starts(self) -> dict[str, int]:
        return {task: len(processes) for task, processes in self.started.items()}

    @property
    def running(self) -> set[str]:
        return {task for task, each in self.started.items() if each[-1].returncode is None}


class NoGuard:
    """Guards nothing: there are no processes."""

    def close(self) -> None: ...


@pytest.fixture
def printer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Printer]:
    monkeypatch.setattr("spmd.launch.gang.Guard", NoGuard)
    printer = Printer(io.StringIO(), io.StringIO())
    yield printer
    printer.close(60)


@pytest.mark.parametrize("task", ["worker 1", "ps 0", "chief 0"])
@pytest.mark.parametrize("returncode", [1, -9])
def test_a_task_that_fails_starts_again_alone(printer: Printer, task: str, returncode: int) -> None:
    job = Job(ROLES, printer)
    job.end(task, returncode)
    assert job.starts == {str(each): 1 + (str(each) == task) for each in ROLES.all}
    assert job.started[task][-1].attempt == 1
    assert job.running == set(map(str, ROLES.all))


def test_a_server_that_ends_well_starts_again_too(printer: Printer) -> None:
    job = Job(ROLES, printer)
    job.end("worker 0", 0)
    assert job.starts["worker 0"] == 2


def test_the_job_is_over_when_the_chief_is(printer: Printer) -> None:
    job = Job(ROLES, printer)
    job.end("worker 0", -9)
    job.end("chief 0", 0)
    assert job.gangs.ended
    assert job.gangs.status == 0
    for server in ("worker 0", "worker 1", "ps 0"):
        assert job.started[server][-1].signals == [signal.SIGTERM]
    assert not job.running


def test_servers_are_stopped_when_the_chief_has_failed_for_good(printer: Printer) -> None:
    job = Job(ROLES, printer)
    job.end("chief 0", 3)
    job.end("chief 0", 4)
    assert job.gangs.ended
    assert job.gangs.status == 4
    assert job.started["ps 0"][-1].signals == [signal.SIGTERM]


def test_the_others_go_on_without_a_worker_that_is_lost_for_good(printer: Printer) -> None:
    job = Job(ROLES, printer)
    for _ in range(2):
        job.end("worker 0", -9)
    assert job.starts["worker 0"] == 2
    assert job.running == {"chief 0", "worker 1", "ps 0"}
    job.end("chief 0", 0)
    assert job.gangs.status == 0


@pytest.mark.parametrize("lost", [["ps 0"], ["worker 0", "worker 1"]])
def test_nobody_goes_on_without_a_parameter_server_or_any_worker(
    printer: Printer, lost: list[str]
) -> None:
    job = Job(ROLES, printer)
    for task in lost:
        for _ in range(2):
            job.end(task, 7)
    assert job.gangs.ended
    assert job.gangs.status == 7
    assert job.started["chief 0"][-1].signals == [signal.SIGTERM]
    assert job.starts["chief 0"] == 1


def test_the_chief_may_save_what_servers_hold_when_all_are_to_stop(printer: Printer) -> None:
    job = Job(ROLES, printer)
    chief = job.started["chief 0"][-1]
    chief.send = chief.signals.append  # saves, and ends later
    job.gangs.forward(signal.SIGTERM)
    job.gangs.poll()
    assert chief.signals == [signal.SIGTERM]
    assert job.running == set(map(str, ROLES.all))
    job.end("worker 0", -9)
    assert job.starts["worker 0"] == 1
    job.end("chief 0", 143)
    assert job.gangs.ended
    assert job.gangs.status == 143


def test_a_second_signal_kills_all(printer: Printer) -> None:
    job = Job(ROLES, printer)
    chief = job.started["chief 0"][-1]
    chief.send, send = chief.signals.append, chief.send
    job.gangs.forward(signal.SIGINT)
    chief.send = send
    job.gangs.forward(signal.SIGINT)
    job.gangs.poll()
    assert job.gangs.ended
    assert {processes[-1].returncode for processes in job.started.values()} == {-signal.SIGKILL}


def test_an_evaluator_has_none_after_a_training_that_lost_its_servers(printer: Printer) -> None:
    job = Job(Roles(1, chief=True, evaluator=True, ps=1), printer, restarts=0)
    job.end("ps 0", 7)
    assert job.gangs.ended
    assert job.started["evaluator 0"][-1].signals == [signal.SIGTERM]
    assert job.gangs.status == 7


def test_an_evaluator_has_time_after_the_servers_have_ended(printer: Printer) -> None:
    job = Job(Roles(1, chief=True, evaluator=True, ps=1), printer)
    job.end("chief 0", 0)
    assert job.running == {"evaluator 0"}
    job.end("evaluator 0", 0)
    assert job.gangs.ended
    assert job.gangs.status == 0
