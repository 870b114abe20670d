"""Workers that are lost and come back, with tasks that end when a test says so."""

import signal
from collections.abc import Callable

import pytest

from spmd.cluster import Task
from spmd.launch.elastic import Elastic, was_lost
from spmd.launch.gang import Gang
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.summary import summarize
from spmd.launch.tasks import Roles
from tests.spmd.launch.test_gangs import FakeProcess, NoGuard
from tests.spmd.launch.test_summary import Printer


def workers(*indices: int) -> list[Task]:
    return [Task("worker", index) for index in indices]


@pytest.mark.parametrize(
    ("returncode", "sent", "lost"),
    [
        (-signal.SIGKILL, [], True),
        (-signal.SIGKILL, [signal.SIGTERM], True),
        (-signal.SIGKILL, [signal.SIGTERM, signal.SIGKILL], False),
        (-signal.SIGTERM, [], True),
        (-signal.SIGTERM, [signal.SIGTERM], False),
        (-signal.SIGABRT, [], False),
        (-signal.SIGSEGV, [], False),
        (143, [], False),
        (1, [], False),
        (0, [], False),
    ],
)
def test_what_something_else_killed_is_lost(returncode: int, sent: list[int], lost: bool) -> None:
    assert was_lost(returncode, sent) == lost


def test_those_that_are_left_keep_their_slots_and_get_new_numbers() -> None:
    elastic = Elastic(Roles(4, min_workers=1), 0.0)
    assert elastic.lose(workers(1)) == "worker 1 was lost; goes on with 3 of 4 workers"
    assert elastic.tasks == tuple(workers(0, 1, 2))
    elastic.lose(workers(1))  # the third of the first attempt
    assert [elastic.slot_of(task) for task in elastic.tasks] == workers(0, 3)


def test_there_are_never_fewer_than_allowed() -> None:
    elastic = Elastic(Roles(4, min_workers=3), 60.0)
    text = elastic.lose(workers(0, 1, 3))
    assert text == (
        "worker 0, worker 1, worker 3 were lost; goes on with 3 of 4 workers, the fewest that --workers 3:4 allows, and tries 4 "
        "again in 60 s"
    )
    assert elastic.slots == [0, 1, 2]
    elastic.regrow()
    assert elastic.is_complete


def test_a_chief_starts_again_with_as_many_workers() -> None:
    elastic = Elastic(Roles(2, chief=True, min_workers=0), 60.0)
    assert elastic.lose([Task("chief", 0)]) == ""
    elastic.lose([Task("chief", 0), *workers(0, 1)])
    assert elastic.tasks == (Task("chief", 0),)
    assert elastic.slot_of(Task("chief", 0)) == Task("chief", 0)


class Training:
    """A gang of 2 to 4 workers, its processes in each attempt, and a clock that a test moves."""

    def __init__(self, clock: Callable[[float], None], regrow: float = 300.0) -> None:
        self.attempts: list[list[FakeProcess]] = []
        self.wait, self.printer = clock, Printer()
        roles, policy = Roles(4, min_workers=2), RestartPolicy(3, backoff_seconds=0.0)
        elastic = Elastic(roles, regrow)
        self.gang = Gang(roles.cluster, self.start, policy, self.printer, elastic=elastic)
        self.gang.begin()

    def start(self, tasks, attempt, guard) -> list[FakeProcess]:
        self.attempts.append([FakeProcess(task, attempt) for task in tasks])
        return self.attempts[-1]

    def end(self, **returncodes: int) -> None:
        """Ends workers, such as `_1=-9`; the others end when they are asked to."""
        for worker, returncode in returncodes.items():
            self.attempts[-1][int(worker[1:])].returncode = returncode
        self.poll()

    def poll(self) -> None:
        for _ in range(3):
            self.gang.poll()

    @property
    def sizes(self) -> list[int]:
        return [len(processes) for processes in self.attempts]


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Training]:
    monkeypatch.setattr("spmd.launch.gang.Guard", NoGuard)
    now, made = [1000.0], []
    monkeypatch.setattr("spmd.launch.gang.time.monotonic", lambda: now[0])

    def wait(seconds: float) -> None:
        now[0] += seconds
        made[0].poll()

    def make(**options: float) -> Training:
        made.append(Training(wait, **options))
        return made[0]

    return make


def test_the_next_attempt_lacks_who_was_lost_and_a_later_one_has_all(training) -> None:
    job = training()
    job.end(_1=-9, _3=-9)
    assert job.sizes == [4, 2]
    job.wait(299.0)
    assert job.sizes == [4, 2]
    job.wait(2.0)
    assert [process.signals for process in job.attempts[1]] == [[signal.SIGTERM]] * 2
    assert job.sizes == [4, 2, 4]
    assert job.gang.deadline == float("inf")
    job.end(_0=0, _1=0, _2=0, _3=0)
    assert job.gang.ended
    assert not job.gang.failed
    assert job.gang.status == 0


def test_taking_workers_back_uses_up_no_restart(training) -> None:
    job = training()
    for _ in range(3):
        job.end(_2=-9)
        job.wait(301.0)
    assert job.sizes == [4, 3, 4, 3, 4, 3, 4]
    job.end(_2=-9)
    assert job.gang.ended
    assert job.gang.status == 137


def test_an_error_of_the_script_makes_all_start_again(training) -> None:
    job = training()
    job.end(_1=1)
    job.end(_1=-signal.SIGABRT)
    job.end(_1=143)
    assert job.sizes == [4, 4, 4, 4]


def test_tasks_that_the_launcher_kills_are_not_lost(training) -> None:
    job = training()
    for process in job.attempts[0][2:]:
        process.send, send = process.signals.append, process.send
        process.kill = send
    job.end(_0=-9)
    job.wait(31.0)  # those that did not end when asked get SIGKILL
    for process in job.attempts[0][2:]:
        assert process.signals == [signal.SIGTERM, signal.SIGKILL]
        process.returncode = -signal.SIGKILL
    job.poll()
    assert job.sizes == [4, 3]


def test_nobody_is_taken_back_if_that_is_switched_off(training) -> None:
    job = training(regrow=0.0)
    job.end(_1=-9)
    assert job.gang.deadline == float("inf")


def test_a_training_that_ends_well_when_asked_to_is_over(training) -> None:
    job = training()
    job.end(_1=-9)
    for process in job.attempts[1]:
        process.send = lambda number, process=process: setattr(process, "returncode", 0)
    job.wait(301.0)
    assert job.sizes == [4, 3]
    assert job.gang.ended
    assert job.gang.status == 0


def test_nobody_is_taken_back_when_some_are_done(training) -> None:
    job = training()
    job.end(_1=-9)
    job.end(_0=0)
    job.wait(301.0)
    assert not job.attempts[1][1].signals
    job.end(_1=0, _2=0)
    assert job.gang.ended
    assert job.gang.status == 0


@pytest.mark.parametrize("seconds", [10.0, 301.0], ids=["before", "while all are asked to end"])
def test_a_signal_to_the_launcher_ends_the_job(training, seconds: float) -> None:
    job = training()
    job.end(_1=-9)
    for process in job.attempts[1]:
        process.send = process.signals.append
    job.wait(seconds)
    job.gang.stop(signal.SIGINT)
    job.end(_0=143, _1=143, _2=143)
    job.wait(1000.0)
    assert job.sizes == [4, 3]
    assert job.gang.ended
    assert job.gang.was_stopped
    assert job.gang.status == 143


def test_a_kill_ends_the_job(training) -> None:
    job = training()
    job.end(_1=-9)
    for process in job.attempts[1]:
        process.send, process.kill = process.signals.append, process.send
    job.wait(301.0)
    for process in job.attempts[1]:
        process.send = process.kill
    job.gang.kill()
    job.poll()
    assert job.sizes == [4, 3]
    assert job.gang.status == 137


def test_a_task_that_survives_a_kill_ends_the_job(training) -> None:
    job = training()
    job.end(_1=-9)
    for process in job.attempts[1]:
        process.send = process.signals.append
    for _ in range(3):
        job.wait(301.0)
    assert job.sizes == [4, 3]
    assert job.gang.ended
    assert job.gang.status == 1


def test_the_table_says_how_many_workers_each_attempt_had(training) -> None:
    job = training()
    job.end(_1=-9, _3=-9)
    job.wait(301.0)
    job.end(_0=0, _1=0, _2=0, _3=0)
    summarize([job.gang], 3.0, job.printer, ["train.py"])
    text = job.printer.text
    assert "worker 1, worker 3 were lost; goes on with 2 of 4 workers, and tries 4 again" in text
    assert "starts again with 4 workers, after 300 s with 2: SIGTERM to worker 0, worker 1" in text
    assert "restart 1 of 3 in 0 s (worker 0, worker 1): from the last checkpoint" in text
    assert "worker 0 to 3 ended well after 1 restart (3.0 s)" in text
    rows = [[cell.strip() for cell in line.split("│")] for line in text.splitlines()]
    rows = [row[:4] for row in rows if row[0].isdecimal()]
    assert rows == [
        ["0", "4", "worker 1", "SIGKILL"],
        ["1", "2", "", "stopped to start all"],
        ["2", "4", "", "ended well"],
    ]
