"""The result of planning: what one step takes on some hardware, and how long it takes there at least.

Each figure is either the *compiler's* (what XLA says of the program that it made) or our *model's* (computed from the
program, and from the peaks of the chip).
"""

import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spmd.plan.checks import Check, check_program, custom_calls
from spmd.plan.chips import Chip, chip_of
from spmd.plan.collectives import Collective, find_collectives
from spmd.plan.estimate import Estimate, Work, estimate_step
from spmd.plan.facts import Buffer, Memory, StepFacts
from spmd.plan.hlo import HloProgram, parse_hlo
from spmd.plan.scaling import (
    BatchLimit,
    Sample,
    Scaling,
    find_batch_limit,
    fit_model,
    predict_scaling,
)
from spmd.plan.topologies import Topology, parse_topology
from spmd.plan.traffic import memory_traffic, on_chip_peak
from spmd.source_lines import is_user_file

_STATE = ("parameters", "optimizer", "other state")


@dataclasses.dataclass(frozen=True)
class MemoryPart:
    """A part of the memory of one device.

    Attributes:
        kind: what it holds.
        bytes: how much.
    """

    kind: str
    bytes: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """What one step takes on some hardware.

    FLOP and bytes are of one device and one training step, unless said otherwise.

    Attributes:
        step: name of its function.
        topology: as it was asked for, such as `"v5e:16x16"`.
        chip: its kind, such as `"v5e"`.
        chip_title: its name in full.
        devices: how many the step runs on.
        replicas: how many replicas share the batch.
        slices: how many groups of devices a slower network joins.
        global_batch: rows of the batch; None if it has none.
        rows: of the batch of one replica, with what it is padded with; None if there is no batch.
        steps_per_call: training steps of one call of the program.
        jax_version: that compiled it.
        seconds: how long `"trace"`, `"lower"` and `"compile"` took, here.
        memory: of one device; the compiler's.
        memory_parts: what it is for; their sum is `memory.total`.
        memory_limit: bytes that a chip has; None if that is not known.
        buffers: the largest arrays that the step takes.
        parameter_bytes: of all parameters, on one device.
        flops: of matrix products and convolutions, by the type of their operands; our count of the traced program.
        elementwise_flops: of the rest, likewise.
        compiler_flops: XLA's count, for one call, with the bodies of loops once; None if it gives none.
        compiler_bytes: XLA's estimate of bytes that kernels access, likewise.
        traffic_bytes: between memory and compute units; our estimate from the compiled program.
        collectives: of one call; found in the compiled program.
        custom_calls: operations that are no ordinary ones of XLA, counted by name.
        checks: what was looked for in the compiled program.
        estimate: how long a step takes at least; None if the chip's peaks are not known.
        batch_limit: the largest batch that fits; None if it cannot be predicted.
        scaling: the step on other topologies; None if it cannot be predicted.
        sources: the user's lines that collectives came from.
        notes: what a reader should know besides.
    """

    step: str
    topology: str
    chip: str
    chip_title: str
    devices: int
    replicas: int
    slices: int
    global_batch: int | None
    rows: float | None
    steps_per_call: int
    jax_version: str
    seconds: Mapping[str, float]
    memory: Memory
    memory_parts: tuple[MemoryPart, ...]
    memory_limit: int | None
    buffers: tuple[Buffer, ...]
    parameter_bytes: int
    flops: Mapping[str, float]
    elementwise_flops: float
    compiler_flops: float | None
    compiler_bytes: float | None
    traffic_bytes: float
    collectives: tuple[Collective, ...]
    custom_calls: Mapping[str, int]
    checks: tuple[Check, ...]
    estimate: Estimate | None
    batch_limit: BatchLimit | None
    scaling: Scaling | None
    sources: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def fits(self) -> bool | None:
        """Whether the step fits into a chip's memory; None if that is not known."""
        return None if self.memory_limit is None else self.memory.total <= self.memory_limit

    @property
    def sent_bytes(self) -> float:
        """What one device sends in one training step, if collectives work as rings."""
        return sum(each.times * each.traffic for each in self.collectives) / self.steps_per_call

    def to_json(self) -> str:
        """Writes the plan as JSON; `from_json` reads it again."""
        return json.dumps({"format": 1, **dataclasses.asdict(self)}, indent=1)

    @staticmethod
    def from_json(text: str) -> "Plan":
        """Reads what `to_json` wrote.

        Args:
            text: JSON.

        Raises:
            ValueError: the text is of another format.
        """
        fields: dict[str, Any] = json.loads(text)
        found = fields.pop("format", None)
        if found != 1:
            raise ValueError(
                f"Expected a plan of format 1, found format {found!r}: make it again with `jaxtribute plan --json`."
            )
        return _build(Plan, fields)


@dataclasses.dataclass(frozen=True)
class _Compiled:
    """A step's facts, with what its program says."""

    facts: StepFacts
    program: HloProgram
    collectives: tuple[Collective, ...]
    work: Work

    @property
    def topology(self) -> Topology:
        return parse_topology(self.facts.topology)


def make_plan(facts: StepFacts, others: Sequence[StepFacts] = ()) -> Plan:
    """Makes the report of a compiled step.

    Args:
        facts: what compiling it told.
        others: of the same step, compiled for other topologies or other batches.

    Returns:
        The plan of the first step; its scaling takes the others into account.
    """
    step = _read(facts)
    chip = chip_of(facts.chip)
    steps = facts.steps_per_call or 1
    state = sum(each.bytes for each in facts.buffers if each.kind in _STATE)
    batch_limit, scaling = _predictions([step, *map(_read, others)], chip)
    lines = [each.line.removeprefix("near ") for each in step.collectives if each.line]
    return Plan(
        step=facts.name,
        topology=facts.topology,
        chip=facts.chip,
        chip_title=chip.title if chip else facts.chip,
        devices=facts.devices,
        replicas=facts.replicas,
        slices=facts.slices,
        global_batch=facts.global_batch,
        rows=_rows(facts),
        steps_per_call=steps,
        jax_version=facts.jax_version,
        seconds=dict(facts.seconds),
        memory=facts.memory,
        memory_parts=_memory_parts(facts),
        memory_limit=chip.memory if chip else None,
        buffers=tuple(sorted(facts.buffers, key=lambda each: -each.bytes)[:20]),
        parameter_bytes=sum(each.bytes for each in facts.buffers if each.kind == "parameters"),
        flops=dict(step.work.products),
        elementwise_flops=facts.elementwise_flops / steps,
        compiler_flops=facts.compiler_cost.get("flops"),
        compiler_bytes=facts.compiler_cost.get("bytes accessed"),
        traffic_bytes=step.work.memory_bytes,
        collectives=step.collectives,
        custom_calls=custom_calls(step.program),
        checks=check_program(step.program, facts.memory, state),
        estimate=estimate_step(step.work, chip, step.topology.shape, facts.slices)
        if chip
        else None,
        batch_limit=batch_limit,
        scaling=scaling,
        sources={line: facts.sources[line] for line in lines if line in facts.sources},
        notes=(*facts.notes, *_notes(step, chip)),
    )


def _read(facts: StepFacts) -> _Compiled:
    def is_user(file: str, line: int) -> bool:
        return f"{file}:{line}" in facts.sources if facts.sources else is_user_file(file)

    program = parse_hlo(facts.hlo)
    collectives = tuple(find_collectives(program, facts.devices, facts.slices, is_user))
    steps = facts.steps_per_call or 1
    products = dict(facts.flops_by_type)
    if not products and facts.model_flops:
        products = {"bfloat16": facts.model_flops}
    work = Work(
        {dtype: count / steps for dtype, count in products.items()},
        memory_traffic(program) / steps,
        collectives,
        steps,
    )
    return _Compiled(facts, program, collectives, work)


def _predictions(
    steps: Sequence[_Compiled], chip: Chip | None
) -> tuple[BatchLimit | None, Scaling | None]:
    """Predicts from the steps with a batch that were compiled for the first one's chip."""
    first = steps[0].facts
    if chip is None or not first.global_batch:
        return None, None
    used = [each for each in steps if each.facts.chip == first.chip and each.facts.global_batch]
    samples = [_sample(each) for each in used]
    model = fit_model(samples)
    topologies = {each.topology.text: each.topology for each in used}
    # If only batches differ, there is no sweep: the curve goes through the usual topologies.
    asked = list(topologies.values()) if len(topologies) > 1 else []
    return find_batch_limit(model, chip.memory), predict_scaling(model, samples, chip, asked)


def _sample(step: _Compiled) -> Sample:
    facts = step.facts
    taken: dict[str, int] = dict.fromkeys((*_STATE, "input"), 0)
    for buffer in facts.buffers:
        taken[buffer.kind] = taken.get(buffer.kind, 0) + buffer.bytes
    state = sum(taken[kind] for kind in _STATE)
    grows = min(taken["input"] + facts.memory.temporaries, facts.memory.total)
    return Sample(
        topology=step.topology,
        devices=facts.devices,
        replicas=facts.replicas,
        rows=_rows(facts) or 1.0,
        memory=facts.memory.total,
        fixed_memory=facts.memory.total - grows,
        # Of what lies there, state and gradients do not grow with the batch.
        on_chip=max(0, on_chip_peak(step.program) - state - taken["parameters"]),
        state=state,
        work=step.work,
    )


def _rows(facts: StepFacts) -> float | None:
    """Rows of a replica's batch, as they are compiled: padded, so that all replicas have as many."""
    if not facts.global_batch:
        return None
    sides = [each.shape[0] for each in facts.buffers if each.kind == "input" and each.shape]
    padded = [side for side in sides if side >= facts.global_batch]
    return min(padded, default=facts.global_batch) / facts.replicas


def _memory_parts(facts: StepFacts) -> tuple[MemoryPart, ...]:
    parts: dict[str, int] = dict.fromkeys((*_STATE, "input"), 0)
    for buffer in facts.buffers:
        parts[buffer.kind] = parts.get(buffer.kind, 0) + buffer.bytes
    padding = facts.memory.arguments - sum(parts.values())
    for kind in ("input", "other state", "optimizer", "parameters"):
        # The compiler leaves out arguments that the step does not use.
        unused = min(parts[kind], max(0, -padding))
        parts[kind] -= unused
        padding += unused
    parts["padding of these"] = padding
    parts["temporaries"] = facts.memory.temporaries
    parts["results"] = facts.memory.outputs - facts.memory.aliased
    parts["program"] = facts.memory.code
    return tuple(MemoryPart(kind, size) for kind, size in parts.items() if size)


def _notes(step: _Compiled, chip: Chip | None) -> list[str]:
    facts, collectives = step.facts, step.collectives
    found: list[str] = []
    if chip is None:
        found.append(f"There are no figures for the chip {facts.chip!r}, so no time is estimated.")
    if not all(each.times_known for each in collectives):
        found.append(
            "A loop whose length depends on the data holds collectives: they are counted for one turn."
        )
    if "flops" not in facts.compiler_cost:
        found.append("XLA gives no count of FLOP and bytes for this platform.")
    return found


def _build(kind: Any, value: Any) -> Any:
    """Makes an object of a type from what JSON holds of it."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = next(each for each in arguments if each is not type(None))
        return None if value is None else _build(inner, value)
    if origin is tuple:
        return tuple(_build(arguments[0], each) for each in value)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        make: Callable[..., Any] = typing.cast("Callable[..., Any]", kind)
        return make(**{name: _build(hints[name], each) for name, each in value.items()})
    return value
