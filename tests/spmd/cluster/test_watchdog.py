"""The watchdogs of two or three processes, moved by hand: an own clock, and an exit that does not end anything."""

import itertools
import sys
import threading

import pytest

from spmd.cluster import watchdog
from spmd.cluster.progress import Progress
from spmd.cluster.roster import Roster
from spmd.cluster.verdict import Limits
from spmd.cluster.watchdog import Watchdog
from spmd.cluster.wire import Line, connect, listen

LIMITS = Limits(idle_seconds=60, silent_seconds=30, apart_seconds=20)


class Gang:
    """Processes that live in this one."""

    def __init__(self, count, host):
        self.now = 0.0
        self.exits = [[] for _ in range(count)]
        self.progress = [Progress() for _ in range(count)]
        self._silent = set()
        addresses = [f"{host or f'host{i}'}:1" for i in range(count)]
        ends = [_connection() for _ in range(1, count)]
        lines = [
            {i: ends[i - 1][0] for i in range(1, count)},
            *({0: ends[i - 1][1]} for i in range(1, count)),
        ]
        self.lines = lines
        self.watchdogs = [
            Watchdog(
                Roster(addresses, i),
                lines[i],
                LIMITS,
                progress=self.progress[i],
                clock=lambda: self.now,
                exit_process=self.exits[i].append,
            )
            for i in range(count)
        ]

    def freeze(self, process):
        self._silent.add(process)

    def fail(self, process, text, **how):
        """Lets a process fail, as far as its main thread goes."""
        self.watchdogs[process].join = lambda seconds: None  # it was not started
        self.watchdogs[process].fail(text, 1, 0.0, **how)
        self.exits[process].clear()  # it would have ended the process after some seconds

    def pass_time(self, seconds=0.0):
        """Lets time pass, of which each process makes use every five seconds."""
        until = self.now + seconds
        for now in [*_times(self.now, until, 5.0), until]:
            self.now = now
            # Twice, so that an answer to the others arrives.
            for process, one in [*enumerate(self.watchdogs)] * 2:
                if process not in self._silent and not self.exits[process]:
                    one.tick(0.01)


def _times(start, end, step):
    return itertools.takewhile(lambda time: time < end, itertools.count(start + step, step))


def _connection():
    with listen("127.0.0.1", 0) as listener:
        other = connect("127.0.0.1", listener.getsockname()[1], 5.0)
        return Line(listener.accept()[0]), other


@pytest.fixture
def gang(monkeypatch):
    monkeypatch.setattr(watchdog, "_GOODBYE_SECONDS", 0.0)  # nobody ends here
    monkeypatch.setattr(watchdog, "_SAME_ERROR_SECONDS", 0.0)
    monkeypatch.setattr(watchdog, "_ALIVE_SECONDS", 0.05)
    gangs = []

    def make(count, host=""):
        gangs.append(Gang(count, host))
        return gangs[-1]

    yield make
    for one in gangs:
        for lines in one.lines:
            for line in lines.values():
                line.close()


def test_nothing_happens_while_all_go_on(gang, capfd):
    three = gang(3)
    for _ in range(3):
        for one in three.progress:
            one.step_started()
        three.pass_time(50)
    assert three.exits == [[], [], []]
    assert capfd.readouterr().err == ""


def test_who_lags_is_reported_by_all(gang, capfd):
    three = gang(3)
    for one in three.progress:
        one.step_started()
    for one in three.progress[:2]:
        one.step_started()
    three.pass_time(60)
    assert three.exits == [[], [], []]
    print("half a line", end="", file=sys.stderr, flush=True)
    three.pass_time(10)
    assert three.exits == [[143]] * 3
    printed = capfd.readouterr().err
    assert printed.startswith("half a line\njaxtribute: worker 2")
    assert printed.count("jaxtribute: worker 2 (host2:1) lags: no step since step 1") == 3
    ends = "jaxtribute: worker 1 (host1:1), at step 2, exits with code 143 (retryable). Its Python stacks:\n"
    assert f"{ends}Thread MainThread (most recent call last):\n" in printed
    assert "in test_who_lags_is_reported_by_all\n    three.pass_time(10)" in printed


@pytest.mark.parametrize("process", [0, 1, 2])
def test_who_says_nothing_is_reported_by_the_others(gang, capfd, process):
    three = gang(3)
    three.pass_time(10)
    three.freeze(process)
    three.pass_time(29)
    assert three.exits == [[], [], []]
    three.pass_time(12)
    assert three.exits == [[] if i == process else [143] for i in range(3)]
    name = f"jaxtribute: worker {process} (host{process}:1) is stopped"
    assert capfd.readouterr().err.count(name) == 2


@pytest.mark.parametrize("process", [0, 1, 2])
def test_who_is_gone_is_reported_at_once(gang, capfd, process):
    three = gang(3)
    three.pass_time()
    for line in three.lines[process].values():
        line.close()
    three.freeze(process)
    three.pass_time()
    assert three.exits == [[] if i == process else [143] for i in range(3)]
    name = f"jaxtribute: worker {process} (host{process}:1) is gone"
    assert capfd.readouterr().err.count(name) == 2


@pytest.mark.parametrize("process", [0, 1])
@pytest.mark.parametrize("shown", [False, True])
def test_who_fails_is_reported_and_keeps_its_own_exit_code(gang, capfd, process, shown):
    two = gang(2)
    two.progress[process].step_started()
    two.fail(process, "failed: ValueError: no", shown=shown)
    two.pass_time()
    assert two.exits[process] == [1]
    assert two.exits[1 - process] == [143]
    printed = capfd.readouterr().err
    failed = f"jaxtribute: worker {process} (host{process}:1), at step 1, failed: ValueError: no\n"
    assert printed.count(failed) == 2 - shown
    tells = f"worker {process} (host{process}:1), at step 1, exits with code 1, and the other tasks end too.\n"
    assert (tells in printed) == shown
    other = f"worker {1 - process} (host{1 - process}:1), before its first step, exits with code 143 (retryable).\n"
    assert other in printed
    assert "most recent call" not in printed


@pytest.mark.parametrize("process", [0, 1])
def test_the_same_error_in_all_tasks_ends_all_with_its_exit_code(gang, monkeypatch, process):
    two = gang(2)
    two.pass_time()
    # The other one fails while it waits for that.
    monkeypatch.setattr(
        two.watchdogs[1 - process]._fails, "wait", lambda _: two.fail(1 - process, "failed: no")
    )
    two.fail(process, "failed: no")
    two.pass_time()
    assert two.exits == [[1], [1]]


def test_who_is_told_to_end_after_process_0_has_died_reports_both_at_once(gang, capfd):
    two = gang(2)
    two.pass_time()
    two.fail(1, "was told to end, by SIGTERM.")
    for line in two.lines[0].values():
        line.close()
    two.freeze(0)
    two.pass_time()
    assert two.exits == [[], [1]]
    printed = capfd.readouterr().err
    assert "worker 1 (host1:1), before its first step, was told to end, by SIGTERM.\n" in printed
    assert "worker 0 (host0:1) is gone" in printed


def test_on_one_machine_tasks_have_names_alone(gang, capfd):
    two = gang(2, "localhost")
    two.fail(1, "failed: no")
    two.pass_time()
    assert "jaxtribute: worker 1, before its first step, failed: no\n" in capfd.readouterr().err


def test_who_waits_in_different_calls_is_reported_and_not_started_again(gang, capfd):
    two = gang(2)
    with two.progress[0].calling("save (1)"), two.progress[1].calling("steps (5)"):
        two.pass_time(20)
        assert two.exits == [[], []]
        two.pass_time(10)
    assert two.exits == [[1], [1]]
    printed = capfd.readouterr().err
    assert printed.count("Some tasks wait in a call that the others do not make.") == 2
    assert printed.count("exits with code 1.\n") == 2


@pytest.mark.parametrize("steps", [0, 1])
def test_who_has_passed_a_call_is_reported_and_not_started_again(gang, capfd, steps):
    two = gang(2)
    with two.progress[0].calling("save (1)") as waits_for:
        waits_for(1)
        for _ in range(steps):
            two.progress[1].step_started()
        two.pass_time(30)
    assert two.exits == [[1] * steps] * 2
    printed = capfd.readouterr().err
    assert printed.count("Some tasks wait in a call that the others do not make.") == 2 * steps


def test_who_is_ahead_but_has_made_the_call_is_not_blamed(gang):
    three = gang(3)
    with three.progress[0].calling("save (1)") as waits_for:
        waits_for(2)
        three.progress[1].step_started()  # it made the call, and waits for the other two
        three.pass_time(50)
    assert three.exits == [[], [], []]


def test_calls_that_follow_each_other_are_no_wait(gang):
    two = gang(2)
    for number in range(8):
        calls = [f"save ({number + process})" for process in range(2)]
        with two.progress[0].calling(calls[0]), two.progress[1].calling(calls[1]):
            two.pass_time(10)
    assert two.exits == [[], []]


def test_a_call_of_another_thread_is_not_told(gang):
    two = gang(2)
    told = []

    def call():
        with two.progress[1].calling("saved (1)"):
            two.pass_time()
            told.append(two.watchdogs[0].tasks()[1].call)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert told == [""]


def test_processes_that_end_wait_for_each_other(gang):
    two = gang(2)
    for one in two.watchdogs:
        one.is_alive = lambda: True  # moved by hand
    ended = []

    def end(process):
        ended.append(two.watchdogs[process].end())

    threads = [threading.Thread(target=end, args=(i,)) for i in range(2)]
    threads[0].start()
    two.pass_time(20)
    assert ended == []
    threads[1].start()
    while len(ended) < 2:
        two.pass_time(1)
    # What happens after that is no failure.
    two.lines[0][1].close()
    two.freeze(0)
    two.pass_time(100)
    assert (ended, two.exits) == ([True, True], [[], []])


@pytest.mark.parametrize("process", [0, 1])
@pytest.mark.parametrize("ends", [False, True])
def test_who_ran_other_steps_is_reported_even_at_the_end(gang, capfd, process, ends):
    two = gang(2)
    two.pass_time()
    for program in (1, 2, 2, 2):
        two.progress[process].step_started(program)
    for program in (1, 1):
        two.progress[1 - process].step_started(program)
    if ends:
        two.watchdogs[0].is_alive = two.watchdogs[1].is_alive = lambda: False  # moved by hand
        assert [one.end() for one in two.watchdogs] == [False, False]
    two.pass_time(5)
    assert two.exits == [[1], [1]]
    printed = capfd.readouterr().err
    assert printed.count("worker 1 (host1:1) ran different steps from worker 0 (host0:1)") == 2


def test_busy_and_waiting_processes_say_so(gang):
    two = gang(2)
    with two.progress[1].busy("compiles step"):
        two.pass_time()
        assert [task.doing for task in two.watchdogs[0].tasks()] == ["", "compiles step"]
        with two.progress[1].waiting("the loss"):
            two.pass_time(5)
            state = two.watchdogs[0].tasks()[1]
            assert (state.doing, state.waits) == ("waits for the loss", True)
        assert not two.progress[1].waits
    two.pass_time(5)
    assert two.watchdogs[0].tasks()[1].doing == ""


def test_what_is_no_beat_changes_nothing(gang):
    two = gang(2)
    two.progress[1].step_started()
    two.pass_time()
    for beat in ([], [[["1", 1]], "", False, "", ""], [[1]], [[], "", False, "", ""], "beat", None):
        two.lines[1][0].send({"beat": beat})
    two.pass_time()
    assert two.watchdogs[0].tasks()[1].steps == 1


def test_an_abort_leaves_time_for_a_report(run_python):
    run_python(
        "-c",
        "import ctypes, os, threading, spmd.cluster.watchdog as watchdog\n"
        "watchdog.delay_aborts()\n"
        "threading.Thread(target=ctypes.CDLL(None).abort).start()\n"
        "threading.Event().wait(0.5)\n"
        "os._exit(143)\n",
        status=143,
    )


@pytest.mark.parametrize(
    "message",
    [
        {"verdict": {"who": "x"}},
        {"verdict": 3},
        {"beat": [[[1]], "", False, "", None, ""]},
        {"beat": [[[3, 7], [2]], "", False, "", None, ""]},
        {"beat": [[["x", 7]], "", False, "", None, ""]},
        {"beat": [[[3, 7]], "", False]},
    ],
)
def test_what_says_nothing_changes_nothing(gang, message):
    """Of another release, or changed on the way: the watchdog goes on with what it knows."""
    two = gang(2)
    two.pass_time(5)
    two.lines[1][0].send(message)
    two.pass_time(5)
    assert two.exits == [[], []]
    assert [task.steps for task in two.watchdogs[0].tasks()] == [0, 0]


def test_who_fails_once_all_have_ended_is_left_alone(gang):
    """A task that gets SIGTERM while it leaves: started again, it would wait for tasks that do not come any more."""
    two = gang(2)
    for one in two.watchdogs:
        one._ended = True
    two.pass_time(10)
    for one in two.watchdogs:
        assert one._all_ended.is_set()
        one.fail("was told to end, by SIGTERM.", 143, 0.0)
    two.pass_time(10)
    assert two.exits == [[], []]
