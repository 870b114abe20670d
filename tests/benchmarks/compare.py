"""Runs a workload for every peer side by side."""

import json
import socket
from collections.abc import Iterator

from tests.benchmarks.turns import Command, Spread, measure, spread, started, times_as_fast
from tests.benchmarks.workloads import OURS, Program, Workload


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
        for name, seconds in times.items():
            faster = times_as_fast(times[OURS], seconds)
            target = workload.targets.get(name)
            yield {
                "workload": workload.title,
                "devices": devices,
                "program": name,
                "milliseconds": _rounded(spread([1000 * one for one in seconds])),
                "times as fast": None if name == OURS else _rounded(faster),
                "at least": target,
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
    addresses = [f"localhost:{port}" for port in _free_ports(processes)]
    tasks = [{"type": "worker", "index": index} for index in range(processes)]
    configs = [{"cluster": {"worker": addresses}, "task": task} for task in tasks]
    return [Command(arguments, {"TF_CONFIG": json.dumps(config)}) for config in configs]


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
