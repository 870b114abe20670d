"""How the time of a step grows with the devices, or processes, that share its work.

The batch stays as large, and so do the two cores: what a step takes longer than on one device is the price of
dividing it. Simulated devices of one process sum gradients in its memory; processes send them over gloo.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.compare import commands_of
from tests.benchmarks.report import drawing
from tests.benchmarks.turns import measure, started
from tests.benchmarks.workloads import OURS, TENSORFLOW, Program

ROUNDS = 5
DEVICES, PROCESSES = "devices of one process", "processes with a device each"
COUNTS: Mapping[str, Sequence[int]] = {OURS: (1, 2, 4, 8), TENSORFLOW: (1, 2, 4)}
# The first sentences of the page, up to the machine.
ABOUT = (
    "The last column is the median of the ratios to one device in the same round; where a program has [two speeds](limits.md#tensorflows-two-speeds) "
    "it differs from the ratio of the medians. Measured by `make bench` on"
)
_FRONT_ENDS = {OURS: "jaxtribute", TENSORFLOW: "tensorflow"}


def scaling(peers: str, digits: str) -> Iterator[dict[str, object]]:
    """Measures the MNIST CNN's custom loop, batch 128; all numbers take turns.

    Args:
        peers: the Python that has TensorFlow.
        digits: the file of MNIST digits.

    Yields:
        Rows of the report, one for each program and number.
    """
    shares = [
        *((name, DEVICES, count) for name, counts in COUNTS.items() for count in counts),
        *((name, PROCESSES, count) for name, counts in COUNTS.items() for count in counts[1:]),
    ]
    by_name = {f"{name} on {count} {kind}": (name, kind, count) for name, kind, count in shares}
    commands = {
        text: commands_of(
            Program("mnist.loop" if kind == DEVICES else "mnist.workers", _FRONT_ENDS[name]),
            processes=1 if kind == DEVICES else count,
            peers=peers,
            devices=count if kind == DEVICES else 1,
            digits=digits,
        )
        for text, (name, kind, count) in by_name.items()
    }
    with started(commands) as programs:
        times = measure(programs, ROUNDS)
    yield from rows_of({by_name[text]: seconds for text, seconds in times.items()})


def rows_of(
    times: Mapping[tuple[str, str, int], Sequence[float]],
) -> Iterator[dict[str, object]]:
    """Compares each number with one device in the same rounds.

    Args:
        times: seconds a step, by program, kind and number.

    Yields:
        Rows of the report.
    """
    for (name, kind, count), seconds in times.items():
        alone = times[name, DEVICES, 1]
        multiples = [each / one for each, one in zip(seconds, alone, strict=True)]
        yield {
            "program": name,
            "shared by": kind,
            "number": count,
            "milliseconds a step": f"{statistics.median(seconds) * 1e3:.3g}",
            "times one device": f"{statistics.median(multiples):.2f}",
        }


def draw(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draws a curve for each program and kind."""
    colors = {OURS: "#4c78a8", TENSORFLOW: "#e45756"}
    with drawing(path, (7, 4)) as axes:
        for name, color in colors.items():
            for kind, line in ((DEVICES, "-o"), (PROCESSES, "--s")):
                points = [
                    (row["number"], float(row["milliseconds a step"]))
                    for row in rows
                    if row["program"] == name and (row["shared by"] == kind or row["number"] == 1)
                ]
                axes.plot(*zip(*points, strict=True), line, color=color, label=f"{name}, {kind}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
        ticks = [5, 10, 20, 50, 100, 200]
        axes.set_yticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("devices or processes on 2 cores, batch 128 in all")
        axes.set_ylabel("milliseconds a step")
        axes.legend(frameon=False)
