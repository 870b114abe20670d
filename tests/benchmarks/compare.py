"""Runs a workload for every peer side by side."""

import random
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spmd.launch.tasks import Task
from spmd.launch.write_tf_config import cluster_of, free_addresses, write_tf_config
from tests.benchmarks.turns import (
    Command,
    Peer,
    Spread,
    measure,
    seconds_to_first_step,
    spread,
    started,
    times_as_fast,
)
from tests.benchmarks.workloads import ALTERNATIVES, OURS, TENSORFLOW, Program, Workload

# How many times TensorFlow's ours is to take at most.
_SECOND_START, _MEMORY = 0.8, 1.1

_START_ROUNDS = 3


class Figures(NamedTuple):
    """What is measured of a program besides its turns.

    Attributes:
        first_start: seconds from its start to the end of its first step, if nothing is kept from an earlier run.
        second_start: the same, of the next run.
        megabytes: the most memory it has had, with its turns.
    """

    first_start: float
    second_start: float
    megabytes: float


def compare(workload: Workload, peers: str, digits: str) -> Iterator[dict[str, object]]:
    """Measures a workload.

    Args:
        workload: what.
        peers: the Python that has TensorFlow and PyTorch.
        digits: the file of MNIST digits.

    Yields:
        Rows of the table: one for each number of devices and each program.
    """
    for devices in workload.devices:
        commands = {
            name: commands_of(program, workload.processes, peers, devices, digits)
            for name, program in workload.programs.items()
            if devices in workload.only.get(name, workload.devices)
        }
        starts = workload.starts and devices == workload.devices[0]
        with tempfile.TemporaryDirectory() as cache:
            if starts:
                ((arguments, _),) = commands[OURS]
                # Only ours keeps something for the next start: its programs.
                commands[OURS] = [Command(arguments, {"XDG_CACHE_HOME": cache})]
                seconds_to_first_step(commands[OURS][0])
            with started(commands) as programs:
                taking_turns = {
                    name: peer
                    for name, peer in programs.items()
                    if name not in ALTERNATIVES or _is_close(peer, programs[ALTERNATIVES[name]])
                }
                times = measure(taking_turns, workload.rounds)
                megabytes = {name: peer.megabytes for name, peer in programs.items()}
        figures = (
            {
                name: Figures(*seconds, megabytes[name])
                for name, seconds in _seconds_to_start(commands).items()
            }
            if starts
            else {}
        )
        times, figures = _better(times, figures)
        for row in rows_of(workload.title, devices, times, workload.targets):
            found = figures.get(str(row["program"]))
            if found:
                row |= {name: float(f"{one:.3g}") for name, one in found._asdict().items()}
                if row["program"] == TENSORFLOW:
                    row["at most"] = [workload.first_start, _SECOND_START, _MEMORY]
            yield row


def _seconds_to_start(
    commands: Mapping[str, Sequence[Command]],
) -> dict[str, tuple[float, ...]]:
    """Measures how long programs, which have run before, take to their first step: the first time, and the next.

    Returns:
        The medians of the rounds.
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(_START_ROUNDS):
        for name in random.sample(list(commands), len(commands)):
            ((arguments, environment),) = commands[name]
            with tempfile.TemporaryDirectory() as cache:
                command = Command(arguments, {**environment, "XDG_CACHE_HOME": cache})
                first = seconds_to_first_step(command)
                second = seconds_to_first_step(command) if name == OURS else first
            found[name].append((first, second))
    return {
        name: tuple(map(statistics.median, zip(*each, strict=True))) for name, each in found.items()
    }


def _is_close(other: Peer, peer: Peer) -> bool:
    """Tells whether another way to run a peer may be quicker than the first one; else it need not take turns."""
    return other.turn() < 1.5 * peer.turn()


def _better(
    times: Mapping[str, Sequence[float]], figures: Mapping[str, Figures]
) -> tuple[dict[str, Sequence[float]], dict[str, Figures]]:
    """Takes the best figures of the ways to run a peer for the peer's; of turns, those of the way with the least median."""
    times, figures = dict(times), dict(figures)
    for other, name in ALTERNATIVES.items():
        if other in times:
            times[name] = min(times[name], times.pop(other), key=statistics.median)
        if other in figures:
            figures[name] = Figures(*map(min, figures[name], figures.pop(other)))
    return times, figures


def rows_of(
    title: str,
    devices: int,
    times: Mapping[str, Sequence[float]],
    targets: Mapping[str, float],
) -> Iterator[dict[str, object]]:
    """Makes rows of the table.

    Args:
        title: what was measured.
        devices: how many.
        times: seconds of each program in each round; the first program is ours.
        targets: how many times as fast ours is to be as another.

    Yields:
        One row for each program.
    """
    ours = next(iter(times))
    for name, seconds in times.items():
        faster, target = times_as_fast(times[ours], seconds), targets.get(name)
        yield {
            "workload": title,
            "devices": devices,
            "program": name,
            "milliseconds": _rounded(spread([1000 * one for one in seconds])),
            "times as fast": None if name == ours else _rounded(faster),
            "at least": target and round(target, 2),
            "holds": None if target is None else faster.median >= target,
        }


def _rounded(values: Spread) -> list[float]:
    return [float(f"{value:.3g}") for value in values]


def commands_of(
    program: Program, processes: int, peers: str, devices: int, digits: str
) -> list[Command]:
    """Returns the commands that run a program, one for each of its processes.

    Args:
        program: which.
        processes: how many; several get a cluster by TF_CONFIG.
        peers: the Python that has TensorFlow and PyTorch.
        devices: of each process.
        digits: the file of MNIST digits.
    """
    arguments = program.arguments(peers, devices, digits)
    if processes == 1:
        return [Command(arguments, {})]
    tasks = [Task("worker", index) for index in range(processes)]
    cluster = cluster_of(tasks, free_addresses(processes))
    return [Command(arguments, {"TF_CONFIG": write_tf_config(cluster, task)}) for task in tasks]
