"""What all comparisons say together, for readers who have ten seconds."""

import statistics
from collections.abc import Mapping, Sequence

_COSTS = {
    "first_start": "time to the first step, with nothing compiled before",
    "second_start": "that time in the next run",
    "megabytes": "memory",
}


def summarize(rows: Sequence[Mapping[str, object]], machine: str) -> str:
    """Counts comparisons with other programs, and names those in which ours is slower.

    Args:
        rows: of comparisons. Those with another setting of our own do not count.
        machine: what they were measured on.
    """
    compared = [
        row
        for row in rows
        if row["times as fast"] is not None and not row["program"].startswith("jaxtribute")
    ]
    if not compared:
        return ""
    slower = sorted((row for row in compared if _ratio(row) < 1), key=_ratio)
    text = (
        f"**As fast or faster in {len(compared) - len(slower)} of {len(compared)} comparisons**, measured on {machine}.\n\n"
        "| against | comparisons | times as fast, median | lowest | slower in | aims missed |\n|---|---|---|---|---|---|\n"
    )
    by_program: dict[str, list[Mapping[str, object]]] = {}
    for row in compared:
        by_program.setdefault(row["program"], []).append(row)
    for program, group in sorted(by_program.items(), key=lambda item: -len(item[1])):
        ratios = [_ratio(row) for row in group]
        aims = [row["holds"] for row in group if row["holds"] is not None]
        text += (
            f"| {program} | {len(group)} | **{statistics.median(ratios):.2f}** | {min(ratios):.2f} | "
            f"{sum(ratio < 1 for ratio in ratios)} | {aims.count(False)} of {len(aims)} |\n"
        )
    if slower:
        text += "\nSlower ([why](limits.md)):\n\n"
        text += "".join(map(_named, slower))
    return text + _costs(rows)


def _ratio(row: Mapping[str, object]) -> float:
    return row["times as fast"][1]


def _named(row: Mapping[str, object]) -> str:
    """Names a comparison, in a line of a list."""
    devices = f", {row['devices']} device{'s' * (row['devices'] != 1)}"
    is_said = " device" in row["workload"]
    return f"- {_ratio(row):.2f} times as fast as {row['program']}: {row['workload']}{'' if is_said else devices}\n"


def _costs(rows: Sequence[Mapping[str, object]]) -> str:
    """Says what models take to start, and in memory, as multiples of TensorFlow's."""
    multiples: dict[str, list[float]] = {key: [] for key in _COSTS}
    aims: dict[str, list[float]] = {key: [] for key in _COSTS}
    ours: Mapping[str, object] = {}
    for row in rows:
        if row["times as fast"] is None:
            ours = row
        elif row["program"] == "TensorFlow" and "first_start" in row:
            for key in _COSTS:
                multiples[key].append(ours[key] / row[key])
            for key, aim in zip(_COSTS, row.get("at most", ()), strict=False):
                aims[key].append(aim - ours[key] / row[key])
    if not multiples["first_start"]:
        return ""
    text = (
        "\nWhat models take to start, and in memory, as a multiple of what TensorFlow takes: below 1 is better.\n\n"
        "| | models | median | range | aims missed |\n|---|---|---|---|---|\n"
    )
    for key, title in _COSTS.items():
        each = multiples[key]
        text += (
            f"| {title} | {len(each)} | **{statistics.median(each):.2f}** | {min(each):.2f} to {max(each):.2f} | "
            f"{sum(left < 0 for left in aims[key])} of {len(aims[key])} |\n"
        )
    return text
