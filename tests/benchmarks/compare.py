"""Runs a workload for every peer side by side."""

from collections.abc import Iterator, Mapping, Sequence

from spmd.launch.tasks import Task
from spmd.launch.write_tf_config import cluster_of, free_addresses, write_tf_config
from tests.benchmarks.turns import Command, Spread, measure, spread, started, times_as_fast
from tests.benchmarks.workloads import Program, Workload


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
            name: _commands(program, workload.processes, peers, devices, digits)
            for name, program in workload.programs.items()
            if devices in workload.only.get(name, workload.devices)
        }
        with started(commands) as programs:
            times = measure(programs, workload.rounds)
        yield from rows_of(workload.title, devices, times, workload.targets)


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


def _commands(
    program: Program, processes: int, peers: str, devices: int, digits: str
) -> list[Command]:
    arguments = program.arguments(peers, devices, digits)
    if processes == 1:
        return [Command(arguments, {})]
    tasks = [Task("worker", index) for index in range(processes)]
    cluster = cluster_of(tasks, free_addresses(processes))
    return [Command(arguments, {"TF_CONFIG": write_tf_config(cluster, task)}) for task in tasks]
