"""Compiles a program for the devices of a target, and collects what the compiler says."""

import contextlib
import math
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.sharding import Mesh

from spmd.errors import PlanError
from spmd.plan.facts import Buffer, Memory, StepFacts
from spmd.plan.flops import count_flops
from spmd.plan.frames import user_lines
from spmd.plan.topologies import Topology
from spmd.proof import collectives
from spmd.source_lines import is_user_file
from spmd.step import Program
from spmd.topology import num_replicas

_LOOPS = ("scan", "while")
_PRODUCTS = ("dot_general", "conv_general_dilated")
# With more matrix products and convolutions, XLA for TPUs takes a minute and longer on two cores.
_MANY_PRODUCTS = 100


def measure(
    program: Program,
    options: Mapping[str, str | bool] | None,
    topology: Topology,
    mesh: Mesh,
    *,
    notes: Sequence[str] = (),
    full: bool = False,
) -> StepFacts:
    """Compiles a program, and collects what the compiler says.

    XLA searches long for what a TPU is to fetch ahead into its fast memory: two thirds of the time that it takes
    for ResNet50. For a large program that search is left out (XLA's optimization level O1). Fusions and collectives
    are the same without it, and temporaries a few percent larger.

    Args:
        program: traced for the platform of the topology.
        options: for XLA, of the step.
        topology: what it is compiled for.
        mesh: the devices of the topology, in the shape of the program's mesh.
        notes: what a reader should know besides.
        full: search as a run would, however large the program is.

    Raises:
        PlanError: XLA cannot compile it, for one because it does not fit into the memory of a device.
    """
    start = time.perf_counter()
    lowered = program.lower(mesh)
    lowered_at = time.perf_counter()
    kept, dropped = _fitting(options or {}, topology)
    products = _products(program.jaxpr)
    quick = topology.platform == "tpu" and not full and products > _MANY_PRODUCTS
    try:
        with _compiling_anew(quick=quick):
            compiled = lowered.compile(compiler_options=kept or None)
    except jax.errors.JaxRuntimeError as error:
        raise _refused(program, topology, error) from error
    seconds = {
        "trace": program.trace_seconds,
        "lower": lowered_at - start,
        "compile": time.perf_counter() - lowered_at,
    }
    notes = [*notes, *_notes(program, topology, mesh)]
    if quick:
        notes.append(
            f"The program is large ({products} matrix products and convolutions), so XLA compiled it without its "
            "search for what to fetch ahead into fast memory. A run's program has the same fusions and collectives; "
            "for ResNet50 its temporaries are 3% smaller, and it moves a third more bytes, in the background. "
            "--full compiles as a run does."
        )
    if dropped:
        notes.append(
            f"Options of the step for another platform were left out: {', '.join(dropped)}."
        )
    flops, text = count_flops(program.jaxpr), compiled.as_text() or ""
    return StepFacts(
        name=program.name,
        topology=topology.text,
        chip=topology.chip,
        devices=mesh.size,
        replicas=num_replicas(mesh),
        slices=topology.slices,
        global_batch=sum(program.arguments.masks[0].counts) if program.arguments.masks else None,
        steps_per_call=_steps_per_call(program.jaxpr),
        jax_version=jax.__version__,
        seconds=seconds,
        memory=_memory(compiled),
        buffers=tuple(_buffers(program, mesh)),
        compiler_cost=_cost(compiled),
        model_flops=flops.total,
        elementwise_flops=flops.elementwise,
        hlo=text,
        sources=user_lines(text, is_user_file),
        notes=(*notes, *flops.notes),
        flops_by_type=flops.products,
    )


@contextlib.contextmanager
def _compiling_anew(*, quick: bool) -> Generator[None]:
    """Keeps programs off the disk: one for devices that are not here cannot be loaded, and times are asked for."""
    settings: dict[str, Any] = {"jax_enable_compilation_cache": False}
    if quick:
        settings["jax_optimization_level"] = "O1"
    before = {name: getattr(jax.config, name) for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


def _fitting(
    options: Mapping[str, str | bool], topology: Topology
) -> tuple[dict[str, str | bool], list[str]]:
    """Leaves out options for another platform, which XLA would refuse."""
    others = [f"xla_{other}_" for other in ("cpu", "gpu", "tpu") if other != topology.platform]
    dropped = [name for name in options if name.startswith(tuple(others))]
    return {name: value for name, value in options.items() if name not in dropped}, dropped


def _refused(program: Program, topology: Topology, error: Exception) -> PlanError:
    text = str(error)
    if "RESOURCE_EXHAUSTED" in text:
        return PlanError(
            f"The step {program.name!r} does not fit into the memory of one device of {topology}. XLA says: "
            f"{text}\nMake the batch smaller, or take more devices, which gives each a smaller part of it."
        )
    return PlanError(f"XLA cannot compile the step {program.name!r} for {topology}: {text}")


def _notes(program: Program, topology: Topology, mesh: Mesh) -> Iterator[str]:
    if mesh.size < topology.devices:
        yield (
            f"The script uses {mesh.size} of the {topology.devices} devices: it was planned for these. If it takes "
            "their number as an argument, pass it, as in `-- --devices N`."
        )
    padding = [mask for mask in program.arguments.masks if mask.padded]
    if padding:
        rows = padding[0].rows_per_replica * len(padding[0].counts)
        yield (
            f"The first batch has {sum(padding[0].counts)} rows, which are padded to {rows}, so that each replica "
            "has as many: choose a batch that the number of replicas divides."
        )


def _memory(compiled: jax.stages.Compiled) -> Memory:
    found: Any = compiled.memory_analysis()
    return Memory(
        arguments=found.argument_size_in_bytes,
        outputs=found.output_size_in_bytes,
        aliased=found.alias_size_in_bytes,
        temporaries=found.temp_size_in_bytes,
        code=found.generated_code_size_in_bytes,
    )


def _cost(compiled: jax.stages.Compiled) -> dict[str, float]:
    found: Any = compiled.cost_analysis() or {}
    return {name: float(found[name]) for name in ("flops", "bytes accessed") if name in found}


def _buffers(program: Program, mesh: Mesh) -> Iterator[Buffer]:
    for table, avals in (
        (program.changed, program.changed_avals),
        (program.kept, program.kept_avals),
    ):
        for name, role, aval in zip(table.leaf_names, table.roles, avals, strict=True):
            yield _buffer(name, role.value, aval)
    arguments = program.arguments
    for name, value in zip(arguments.names("split"), arguments.split, strict=True):
        yield _buffer(name, "input", value, num_replicas(mesh))
    for name, value in zip(arguments.names("whole"), arguments.whole, strict=True):
        yield _buffer(name, "input", value)


def _buffer(name: str, kind: str, value: Any, parts: int = 1) -> Buffer:
    shape = tuple(value.shape)
    # An argument may lie anywhere until the step is called; its rows are divided then.
    divided = kind == "input" or getattr(value, "sharding", None) is None
    own = shape if divided else value.sharding.shard_shape(shape)
    size = math.prod(own) * value.dtype.itemsize // parts
    return Buffer(name, kind, size, str(value.dtype), shape)


def _steps_per_call(jaxpr: Jaxpr) -> int | None:
    """Tells how many training steps a program makes: in a loop, if all its collectives are in one."""
    loops = list(_loops(jaxpr))
    if len(loops) != 1 or len(collectives(jaxpr)) > sum(
        len(collectives(body)) for _, body in loops
    ):
        return 1
    return loops[0][0]


def _products(jaxpr: Jaxpr) -> int:
    """Counts the matrix products and convolutions in the text of a program."""
    return sum(
        (equation.primitive.name in _PRODUCTS)
        + sum(map(_products, _bodies(equation.params.values())))
        for equation in jaxpr.eqns
    )


def _loops(jaxpr: Jaxpr) -> Iterator[tuple[int | None, Jaxpr]]:
    """Finds the outermost loops in which replicas exchange something: length, if it is known, and body."""
    for equation in jaxpr.eqns:
        for inner in _bodies(equation.params.values()):
            if equation.primitive.name not in _LOOPS:
                yield from _loops(inner)
            elif collectives(inner):
                yield equation.params.get("length"), inner


def _bodies(values: Any) -> Iterator[Jaxpr]:
    for value in values:
        if isinstance(value, Jaxpr):
            yield value
        elif isinstance(value, ClosedJaxpr):
            yield value.jaxpr
        elif isinstance(value, (tuple, list)):
            yield from _bodies(value)
