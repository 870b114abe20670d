"""Predicts how a step changes with its batch and the number of chips.

Work and memory are taken to grow linearly with the rows of a replica: from programs that were compiled for several
numbers of rows, if there are such, or from one program and the split of what it takes into state and batch. What is sent
between all devices is taken to stay the same (gradients) while the number of devices changes.
"""

import dataclasses
import math
from collections.abc import Sequence

from spmd.plan.chips import Chip
from spmd.plan.estimate import Work, estimate_step
from spmd.plan.topologies import Topology, parse_topology


@dataclasses.dataclass(frozen=True)
class Sample:
    """A compiled step.

    Attributes:
        topology: what it was compiled for.
        devices: how many of its devices the step uses.
        replicas: how many replicas share the batch.
        rows: of the batch of one replica.
        memory: bytes that it takes on one device.
        fixed_memory: of these, what does not depend on the batch: state, code.
        on_chip: bytes that grow with the batch, and that the compiler keeps in on-chip memory, not in the device's.
        state: bytes of the state on one device.
        work: of one device.
    """

    topology: Topology
    devices: int
    replicas: int
    rows: float
    memory: int
    fixed_memory: int
    on_chip: int
    state: int
    work: Work


@dataclasses.dataclass(frozen=True)
class Line:
    """A quantity that grows linearly with the rows of a replica.

    Attributes:
        fixed: at no rows.
        per_row: what each row adds.
    """

    fixed: float
    per_row: float

    def at(self, rows: float) -> float:
        """The quantity at some number of rows."""
        return self.fixed + self.per_row * rows


@dataclasses.dataclass(frozen=True)
class Model:
    """How a step depends on its batch.

    Attributes:
        memory: bytes on one device.
        traffic: bytes between memory and compute units.
        compute: FLOP of products, relative to the sample's.
        sample: the step that it is made from.
        method: how, for people to read.
    """

    memory: Line
    traffic: Line
    compute: Line
    sample: Sample
    method: str

    def work(self, rows: float, devices: int) -> Work:
        """Predicts what one device does in a step.

        Args:
            rows: of a replica.
            devices: how many there are.
        """
        work, before = self.sample.work, self.sample.devices
        growth = self.compute.at(rows)
        collectives = [
            dataclasses.replace(each, group_size=each.group_size * devices // before)
            if each.group_size == before
            else each
            for each in work.collectives
        ]
        return Work(
            {dtype: growth * count for dtype, count in work.products.items()},
            max(0.0, self.traffic.at(rows)),
            collectives,
            work.steps,
        )


@dataclasses.dataclass(frozen=True)
class BatchLimit:
    """The largest batch that fits into the memory of a chip.

    Attributes:
        rows: of one replica.
        global_batch: rows of all replicas.
        method: how it was found, for people to read.
    """

    rows: int
    global_batch: int
    method: str


@dataclasses.dataclass(frozen=True)
class Point:
    """A step on some topology.

    Attributes:
        topology: its name.
        devices: how many it has.
        rows: of a replica.
        global_batch: rows of all replicas.
        step_seconds: of a step, at least.
        rows_per_second: of all replicas.
        efficiency: rows per second and device, relative to the first point of the curve.
        bound: what takes longest.
        memory: bytes on one device.
        fits: whether these fit.
        compiled: whether this very step was compiled for this topology, or predicted from others.
    """

    topology: str
    devices: int
    rows: float
    global_batch: float
    step_seconds: float
    rows_per_second: float
    efficiency: float
    bound: str
    memory: float
    fits: bool
    compiled: bool


@dataclasses.dataclass(frozen=True)
class Scaling:
    """How a step scales.

    Attributes:
        fixed_global: the same global batch on other topologies.
        fixed_per_chip: the same batch for each replica on other topologies.
        compiled: the steps that were compiled, each with its own batch.
        method: how the curves were made, for people to read.
    """

    fixed_global: tuple[Point, ...]
    fixed_per_chip: tuple[Point, ...]
    compiled: tuple[Point, ...]
    method: str


def fit_model(samples: Sequence[Sample]) -> Model:
    """Finds how a step depends on its batch.

    Args:
        samples: of one step, the first of which predictions start from. Two with different numbers of rows give its lines;
            with one number of rows they are split into what is fixed and what grows.

    Examples:
        >>> from spmd.plan.topologies import parse_topology
        >>> chips = parse_topology("v5e:2x2")
        >>> small = Sample(chips, 4, 4, 8, 1800, 900, 0, 100, Work({"float32": 80.0}, 1000.0, ()))
        >>> large = Sample(chips, 4, 4, 16, 2600, 900, 0, 100, Work({"float32": 160.0}, 1800.0, ()))
        >>> fit_model([small]).memory, fit_model([small, large]).memory
        (Line(fixed=900, per_row=112.5), Line(fixed=1000.0, per_row=100.0))
    """
    first = samples[0]
    other = max(samples, key=lambda each: abs(math.log(each.rows / first.rows)))
    if other.rows == first.rows:
        fixed = min(2.0 * first.state, first.work.memory_bytes)
        return Model(
            _split(first),
            _through(0, fixed, first.rows, first.work.memory_bytes),
            Line(0.0, 1 / first.rows),
            first,
            f"from one compiled step, of {first.rows:g} rows a replica: its temporaries and input are taken to grow with "
            "the batch, its state and code to stay, and what it keeps on the chip to move to HBM as it grows. Gradients "
            "are among the temporaries, and do not grow, so the memory of larger batches is overestimated. To draw the "
            "line through two compiled steps, plan with --batch.",
        )
    flops = first.work.flops or 1.0
    return Model(
        _through(first.rows, first.memory, other.rows, other.memory),
        _through(first.rows, first.work.memory_bytes, other.rows, other.work.memory_bytes),
        _through(first.rows, 1.0, other.rows, other.work.flops / flops),
        first,
        f"from two compiled steps, of {first.rows:g} and {other.rows:g} rows a replica, by a line through both.",
    )


def _split(sample: Sample) -> Line:
    """Memory of other batches: at the sample's own rows, what it keeps on the chip costs nothing."""
    grows = sample.memory - sample.fixed_memory + sample.on_chip
    return Line(sample.fixed_memory, grows / sample.rows)


def _through(x: float, y: float, other_x: float, other_y: float) -> Line:
    slope = (other_y - y) / (other_x - x)
    return Line(y - slope * x, slope)


def find_batch_limit(model: Model, memory: int) -> BatchLimit | None:
    """Finds the largest batch that fits.

    Args:
        model: of the step.
        memory: bytes that a chip has.

    Returns:
        The largest batch; 0 rows if the state alone does not fit. None if memory does not grow with the batch.
    """
    if model.memory.per_row <= 0:
        return None
    rows = max(0, math.floor((memory - model.memory.fixed) / model.memory.per_row))
    return BatchLimit(rows, rows * model.sample.replicas, model.method)


def predict_scaling(
    model: Model, samples: Sequence[Sample], chip: Chip, topologies: Sequence[Topology] = ()
) -> Scaling:
    """Predicts a step on other topologies of the same chip.

    Args:
        model: of the step.
        samples: what was compiled.
        chip: of the topologies.
        topologies: to predict for; empty takes usual ones.
    """
    first = model.sample
    share = first.replicas / first.devices  # below 1 if several devices make up a replica
    compiled = {(each.topology.text, each.rows): each.memory for each in samples}
    asked = {each.text: each for each in topologies or usual_topologies(first.topology)}
    asked |= {each.topology.text: each.topology for each in samples}
    order = sorted(asked.values(), key=lambda each: each.devices)

    def point(topology: Topology, rows: float) -> Point:
        work = model.work(rows, topology.devices)
        own = compiled.get((topology.text, rows))
        memory = model.memory.at(rows) if own is None else own
        return _point(topology, rows, share, work, chip, memory, own is not None)

    def curve(rows_on: dict[str, float]) -> tuple[Point, ...]:
        points = [point(each, rows_on[each.text]) for each in order if rows_on[each.text] >= 1]
        return _relative(points)

    total = first.rows * first.replicas
    own = [
        _point(each.topology, each.rows, share, each.work, chip, each.memory, True)
        for each in sorted(samples, key=lambda each: each.topology.devices)
    ]
    return Scaling(
        fixed_global=curve({each.text: total / (share * each.devices) for each in order}),
        fixed_per_chip=curve({each.text: first.rows for each in order}),
        compiled=_relative(own),
        method=model.method,
    )


def _point(
    topology: Topology,
    rows: float,
    share: float,
    work: Work,
    chip: Chip,
    memory: float,
    compiled: bool,
) -> Point:
    found = estimate_step(work, chip, topology.shape, topology.slices)
    batch = rows * share * topology.devices
    return Point(
        *(topology.text, topology.devices, rows, batch, found.step_seconds),
        rows_per_second=batch / found.step_seconds if found.step_seconds else 0.0,
        efficiency=1.0,
        bound=found.bound,
        memory=memory,
        fits=memory <= chip.memory,
        compiled=compiled,
    )


def _relative(points: Sequence[Point]) -> tuple[Point, ...]:
    if not points or not points[0].rows_per_second:
        return tuple(points)
    best = points[0].rows_per_second / points[0].devices
    return tuple(
        dataclasses.replace(each, efficiency=each.rows_per_second / each.devices / best)
        for each in points
    )


def usual_topologies(topology: Topology) -> list[Topology]:
    """Lists topologies of the same chip, from one or a few chips on, to draw a curve through.

    Args:
        topology: whose chip it is.

    Examples:
        >>> [each.text for each in usual_topologies(parse_topology("h100:8"))]
        ['h100:1', 'h100:2', 'h100:4', 'h100:8', 'h100:16', 'h100:32', 'h100:64']
    """
    shapes = {
        "v5e": "1x1 2x2 2x4 4x4 4x8 8x8 8x16 16x16",
        "v6e": "1x1 2x2 2x4 4x4 4x8 8x8 8x16 16x16",
        "v4": "2x2x1 2x2x2 2x2x4 2x4x4 4x4x4 4x4x8 4x8x8 8x8x8",
        "v5p": "2x2x1 2x2x2 2x2x4 2x4x4 4x4x4 4x4x8 4x8x8 8x8x8",
        "h100": "1 2 4 8 16 32 64",
        "h200": "1 2 4 8 16 32 64",
        "a100": "1 2 4 8 16 32 64",
    }
    found = [
        parse_topology(f"{topology.chip}:{shape}")
        for shape in shapes.get(topology.chip, "").split()
    ]
    if topology.platform == "tpu" and topology.slices > 1:
        sides = "x".join(map(str, topology.shape))
        found += [
            parse_topology(f"{slices}x{topology.chip}:{sides}")
            for slices in (1, 2, 4, 8)
            if slices <= 2 * topology.slices
        ]
    return found
