"""Times programs that take turns, so that a noisy machine slows all of them alike."""

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np


def compare(
    programs: dict[str, Callable[[], Any]],
    devices: int,
    *,
    rounds: int,
    steps: int,
    warm_up: int = 5,
) -> list[dict[str, str]]:
    """Times programs in turns.

    Args:
        programs: name and a call of one step that returns its loss; the first one is ours.
        devices: how many devices they run on, for the table.
        rounds: how often each has its turn.
        steps: how many steps a turn has.
        warm_up: how many steps go before a turn, untimed.

    Returns:
        Rows of the table, one a program.
    """
    first = {name: float(program()) for name, program in programs.items()}
    # Programs that compute something else cannot be compared.
    assert np.allclose(list(first.values()), next(iter(first.values())), rtol=1e-5), first
    times: dict[str, list[float]] = {name: [] for name in programs}
    order = list(programs)
    for _ in range(rounds):
        # Another order every round, a clean heap and a warm cache: no program pays for the one before.
        random.shuffle(order)
        for name in order:
            gc.collect()
            for _ in range(warm_up):
                programs[name]()
            start = time.perf_counter()
            for _ in range(steps):
                loss = programs[name]()
            jax.block_until_ready(loss)
            times[name].append((time.perf_counter() - start) / steps * 1e6)
    return rows_of(times, devices, "microseconds a step")


def rows_of(times: Mapping[str, Sequence[float]], devices: int, unit: str) -> list[dict[str, str]]:
    """Makes the rows of a table.

    Args:
        times: of each program, in turns; the first one is ours.
        devices: how many devices they ran on.
        unit: what the times are.

    Returns:
        Rows, one a program.
    """
    mine = next(iter(times.values()))
    return [
        {
            "devices": str(devices),
            "program": name,
            unit: f"{statistics.median(values):,.0f}",
            "ours / this": f"{statistics.median(a / b for a, b in zip(mine, values, strict=True)):.2f}",
        }
        for name, values in times.items()
    ]
