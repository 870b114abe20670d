"""How training steps scale on TPUs and GPUs, by estimates from programs that are compiled for them.

Nothing runs: `jaxtribute plan` compiles the step, and counts what it computes, moves and sends.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spmd.errors import PlanError
from spmd.plan import Plan, parse_topology, plan
from spmd.plan.environment import check_compiler
from tests.benchmarks.report import drawing

MODELS = {
    "ResNet50, 64 rows a chip": "resnet",
    "Transformer, 12 layers of 768, 8 texts of 512 a chip": "gpt",
}
TOPOLOGIES = {
    "TPU v5e": ("v5e:1x1", "v5e:2x2", "v5e:4x4", "v5e:8x8"),
    "H100": ("h100:1", "h100:8", "h100:64"),
}
# The first sentence of the page, up to the machine.
ABOUT = (
    "**Estimated, not measured**: [plans](../plan.md) of programs that XLA compiled for chips that were not there. `Model.fit` of Keras trains in `mixed_bfloat16` "
    "under a strategy of all chips, with as many rows for each: under `MirroredStrategy` in the planned script, under `TPUStrategy` or `MultiWorkerMirroredStrategy` "
    "where chips are on several hosts. Times are lower bounds, and the last column is a ratio of two of them: input, kernel launches and chips that wait for one another "
    "come on top. Made by `make bench ARGS=planned_scaling`, for TPUs with the extra `tpu-plan` and for GPUs with `gpu-plan`, on"
)
PROGRAM = Path(__file__).parent / "programs" / "planned.py"
_COLORS = {"TPU v5e": "#4c78a8", "H100": "#e45756"}


def planned_scaling() -> Iterator[dict[str, object]]:
    """Plans each model for topologies of growing size, of chips whose compiler is installed.

    Yields:
        Rows of the report, one for each model and topology.
    """
    chips = [chip for chip, topologies in TOPOLOGIES.items() if _has_compiler(chip, topologies[0])]
    for title, model in MODELS.items():
        for chip in chips:
            topologies = TOPOLOGIES[chip]
            plans = [plan(str(PROGRAM), topology, [model]) for topology in topologies]
            yield from rows_of(title, chip, plans)


def _has_compiler(chip: str, topology: str) -> bool:
    """Tells whether XLA can compile for a kind of chip here; says what is missing if it cannot."""
    try:
        check_compiler(parse_topology(topology))
    except PlanError as error:
        print(f"{chip} is left out. {error}")
        return False
    return True


def rows_of(title: str, chip: str, plans: Sequence[Plan]) -> Iterator[dict[str, object]]:
    """Compares each topology with the first.

    Args:
        title: of the model.
        chip: of the topologies.
        plans: for topologies of growing size, the first of which has one chip.

    Yields:
        Rows of the report.
    """
    for each in plans:
        estimate, alone = each.estimate, plans[0].estimate
        assert estimate
        assert alone
        yield {
            "model": title,
            "on": chip,
            "chips": each.devices,
            "topology": each.topology,
            "step, ms at least": f"{estimate.step_seconds * 1e3:.3g}",
            "sent by a chip, MB": f"{each.sent_bytes / 1e6:,.0f}",
            "overlapped collectives, ms": f"{estimate.overlapped_seconds * 1e3:.3g}",
            "exposed collectives, ms": f"{estimate.exposed_seconds * 1e3:.3g}",
            "bound by": estimate.bound,
            "share of one chip's speed": f"{alone.step_seconds / estimate.step_seconds:.2f}",
        }


def draw(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draws a curve for each model and kind of chip."""
    chips = list(dict.fromkeys(row["on"] for row in rows))
    with drawing(path, (7, 4)) as axes:
        for title, line in zip(MODELS, ("-o", "--s"), strict=True):
            for chip in chips:
                points = [
                    (row["chips"], float(row["share of one chip's speed"]))
                    for row in rows
                    if (row["model"], row["on"]) == (title, chip)
                ]
                label = f"{title.split(',')[0]}, {chip}"
                axes.plot(*zip(*points, strict=True), line, color=_COLORS[chip], label=label)
        axes.set_xscale("log", base=2)
        numbers = sorted({row["chips"] for row in rows})
        axes.set_xticks(numbers, [str(number) for number in numbers])
        axes.minorticks_off()
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("chips, as many rows for each")
        axes.set_ylabel("share of one chip's speed, estimated")
        axes.legend(frameon=False)
