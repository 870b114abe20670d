"""Programs that take turns, in processes of their own."""

import sys

import pytest

from tests.benchmarks.turns import Command, measure, seconds_to_first_step, started, times_as_fast

PROGRAM = """
from tests.benchmarks.turns import Ready, serve
serve(Ready({amount}, {check}), lambda: print("a line of a library"))
"""


def program(amount: int = 4, check: object = 1.0) -> list[Command]:
    return [Command([sys.executable, "-c", PROGRAM.format(amount=amount, check=check)], {})]


def test_every_program_has_a_turn_in_every_round():
    with started({"one": program(), "other": program(check=1.0001)}) as peers:
        times = measure(peers, rounds=3)
    assert [len(seconds) for seconds in times.values()] == [3, 3]
    assert all(one > 0 for seconds in times.values() for one in seconds)


def test_several_processes_take_their_turns_together():
    with started({"pair": program() * 2}) as peers:
        assert len(measure(peers, rounds=2)["pair"]) == 2


def test_programs_that_compute_something_else_are_refused():
    programs = {"one": program(), "other": program(check=2.0)}
    message = r"other computes 2.0, and one 1.0"
    with pytest.raises(RuntimeError, match=message), started(programs):
        pass


def test_how_close_programs_are_is_told_and_one_with_other_weights_may_opt_out():
    programs = {"one": program(), "other": program(check=1.01), "third": program(check=None)}
    with started(programs, 0.02) as peers:
        assert [peer.ready.check for peer in peers.values()] == [1.0, 1.01, None]
    broken = {"one": program(), "other": program(check="float('nan')")}
    with pytest.raises(RuntimeError, match="other computes nan"), started(broken):
        pass


def test_a_program_that_fails_says_why():
    failing = [Command([sys.executable, "-c", "raise SystemExit('no such data')"], {})]
    with pytest.raises(RuntimeError, match="no such data"), started({"one": failing}):
        pass


def test_ratios_are_of_the_same_round():
    assert times_as_fast([1.0, 2.0, 4.0], [3.0, 6.0, 12.0]) == (3.0, 3.0, 3.0)


def test_a_start_ends_with_the_first_step():
    code = "import tests.benchmarks.turns as turns, time; turns.end_first_step(); time.sleep(60)"
    assert seconds_to_first_step(Command([sys.executable, "-c", code], {})) < 30


def test_a_start_that_fails_is_no_start():
    with pytest.raises(RuntimeError, match="ended before its first step"):
        seconds_to_first_step(Command([sys.executable, "-c", "print('nothing')"], {}))


def test_memory_is_that_of_the_process():
    with started({"one": program()}) as peers:
        measure(peers, rounds=1)
        assert 5 < peers["one"].megabytes < 1000
