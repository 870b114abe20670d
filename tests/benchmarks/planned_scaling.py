"""How training steps scale on TPUs and GPUs, by estimates from programs that are compiled for them.

Nothing runs: `jaxtribute plan` compiles the step, and counts what it computes, moves and sends.
"""

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spmd.plan import Plan, plan
from tests.benchmarks.report import drawing

MODELS = {
    "ResNet50, 64 rows a chip": "resnet",
    "Transformer, 12 layers of 768, 8 texts of 512 a chip": "gpt",
}
TPUS = {"TPU v5e": ("v5e:1x1", "v5e:2x2", "v5e:4x4", "v5e:8x8")}
GPUS = {"H100": ("h100:1", "h100:8", "h100:64")}
_PROGRAM = Path(__file__).parent / "programs" / "planned.py"
_COLORS = ("#4c78a8", "#e45756")


def planned_scaling() -> Iterator[dict[str, object]]:
    """Plans each model for topologies of growing size; those of GPUs where the extra `gpu-plan` is installed.

    Yields:
        Rows of the report, one for each model and topology.
    """
    has_gpus = importlib.util.find_spec("jax_plugins") and importlib.util.find_spec(
        "jax_plugins.xla_cuda12"
    )
    for title, model in MODELS.items():
        for chip, topologies in {**TPUS, **(GPUS if has_gpus else {})}.items():
            plans = [plan(str(_PROGRAM), topology, [model]) for topology in topologies]
            yield from rows_of(title, chip, plans)


def rows_of(title: str, chip: str, plans: Sequence[Plan]) -> Iterator[dict[str, object]]:
    """Compares each topology with the first.

    Args:
        title: of the model.
        chip: of the topologies.
        plans: for topologies of growing size.

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
            "sent by a chip, MB": f"{each.sent_bytes / 1e6:.3g}",
            "sending beside computation, ms": f"{estimate.overlapped_seconds * 1e3:.3g}",
            "sending alone, ms": f"{estimate.exposed_seconds * 1e3:.3g}",
            "bound by": estimate.bound,
            "share of one chip's speed": f"{alone.step_seconds / estimate.step_seconds:.2f}",
        }


def draw(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draws a curve for each model and kind of chip."""
    chips = list(dict.fromkeys(row["on"] for row in rows))
    with drawing(path, (7, 4)) as axes:
        for title, line in zip(MODELS, ("-o", "--s"), strict=True):
            for chip, color in zip(chips, _COLORS[: len(chips)], strict=True):
                points = [
                    (row["chips"], float(row["share of one chip's speed"]))
                    for row in rows
                    if (row["model"], row["on"]) == (title, chip)
                ]
                if points:
                    label = f"{title.split(',')[0]}, {chip}"
                    axes.plot(*zip(*points, strict=True), line, color=color, label=label)
        axes.set_xscale("log", base=2)
        axes.set_xticks([1, 4, 8, 16, 64], ["1", "4", "8", "16", "64"])
        axes.minorticks_off()
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("chips, as many rows for each")
        axes.set_ylabel("share of one chip's speed, estimated")
        axes.legend(frameon=False)
