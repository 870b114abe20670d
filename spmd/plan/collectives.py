"""Finds what travels between devices in a compiled program: kind, bytes, group, overlap, source line.

The *payload* of a collective is the array that it is about: what is summed, or the whole array after a gather. Its
*traffic* is what each device of a group sends if the devices pass the array around in a ring: 2 (N-1)/N of the payload for
an all-reduce, (N-1)/N for an all-gather, a reduce-scatter or an all-to-all.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence

from spmd.plan.frames import Frames
from spmd.plan.hlo import Computation, HloProgram, Instruction

KINDS = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "ragged-all-to-all",
    "collective-permute",
    "collective-broadcast",
)
_LIST = re.compile(r"replica_groups=\{\{([\d,]*)\}(?:,\{([^=]*)\})?\}")
_IOTA = re.compile(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_CHAIN = re.compile(r'chain_id="(\w+)"')
_PAIRS = re.compile(r"source_target_pairs=\{(.*?\})\}")
# Between the start and the end of a transfer, these take no time of the compute units.
_IDLE = frozenset(
    [
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "after-all",
        "copy-start",
        "copy-done",
        "slice-start",
        "slice-done",
        "partition-id",
        "replica-id",
        "async-update",
    ]
)


@dataclasses.dataclass(frozen=True)
class Collective:
    """A collective operation.

    Attributes:
        name: of the instruction.
        kind: XLA's name, such as `"all-reduce"`.
        dtype: XLA's name of the elements' type.
        arrays: how many arrays travel together.
        payload: bytes of the array that it is about, for one execution.
        traffic: bytes that one device sends, for one execution, in a ring.
        group_size: how many devices take part together.
        groups: how many groups do so side by side.
        across_slices: whether a group has devices in several slices.
        times: how often one call executes it.
        times_known: whether that is so, or one turn was taken for a loop whose length depends on the data.
        is_async: whether the compiler starts it before its result is waited for.
        overlapped: whether the compiler placed computation between the two.
        line: the user's source line; `"near "` before it if only what it takes has one.
    """

    name: str
    kind: str
    dtype: str
    arrays: int
    payload: int
    traffic: float
    group_size: int
    groups: int
    across_slices: bool
    times: float
    times_known: bool
    is_async: bool
    overlapped: bool
    line: str | None


def find_collectives(
    program: HloProgram,
    devices: int,
    slices: int = 1,
    is_user: Callable[[str, int], bool] = lambda file, line: True,
) -> list[Collective]:
    """Lists the collectives of a program.

    Args:
        program: compiled, of one device.
        devices: how many run it.
        slices: how many groups of them a slower network joins.
        is_user: tells whether a line, by file and number, is the user's.

    Returns:
        The collectives in program order, those in loops once.
    """
    frames = Frames(program, is_user)
    found: list[Collective] = []
    for computation, times, known in program.scheduled():
        order = list(computation.instructions.values())
        for index, instruction in enumerate(order):
            for inner, at in _collectives_of(program, computation, instruction):
                kind = _kind(at, inner)
                members, groups = _groups(at, devices)
                payload = _payload(inner, at, kind, len(members))
                is_async, overlapped = _overlap(order, index)
                found.append(
                    Collective(
                        name=at.name,
                        kind=kind,
                        dtype=_largest_type(inner, at),
                        arrays=max(1, len(inner.operands_of(at))),
                        payload=payload,
                        traffic=ring_traffic(kind, payload, len(members)),
                        group_size=len(members),
                        groups=groups,
                        across_slices=len({each * slices // devices for each in members}) > 1,
                        times=times,
                        times_known=known,
                        is_async=is_async,
                        overlapped=overlapped,
                        line=frames.line_of(computation, instruction)
                        if inner is computation
                        else frames.line_of(inner, at),
                    )
                )
    return found


def ring_traffic(kind: str, payload: float, group_size: int) -> float:
    """Computes what each device sends if the devices of a group pass an array around in a ring.

    Args:
        kind: of the collective.
        payload: bytes of the array that it is about.
        group_size: number of devices.

    Examples:
        >>> ring_traffic("all-reduce", 100.0, 4), ring_traffic("all-gather", 100.0, 4)
        (150.0, 75.0)
    """
    share = (group_size - 1) / group_size if group_size else 0.0
    if kind == "all-reduce":
        return 2 * share * payload
    if kind in ("collective-permute", "collective-broadcast"):
        return payload if group_size > 1 else 0.0
    return share * payload


def _collectives_of(
    program: HloProgram, computation: Computation, instruction: Instruction
) -> Iterator[tuple[Computation, Instruction]]:
    """Finds the collectives that a kernel starts, with the computations that they stand in."""
    if instruction.opcode.endswith(("-done", "-update")):
        return
    if instruction.opcode.removesuffix("-start") in KINDS:
        yield computation, instruction
    elif instruction.opcode in ("fusion", "async-start"):
        for name in instruction.called:
            inner = program.computations[name]
            starts = any(
                each.attribute("custom_call_target") == "AsyncCollectiveStart"
                for each in inner.instructions.values()
            )
            for each in inner.instructions.values():
                # A TPU's kernels that compute meanwhile name the transfer again: only its start counts.
                if each.opcode in KINDS and (starts or not _CHAIN.search(each.text)):
                    yield inner, each


def _kind(instruction: Instruction, computation: Computation) -> str:
    kind = instruction.opcode.removesuffix("-start")
    # On TPUs, a kernel that keeps a part of the sum.
    if kind == "all-reduce" and computation.name.startswith("all-reduce-scatter"):
        return "reduce-scatter"
    return kind


def _payload(computation: Computation, instruction: Instruction, kind: str, size: int) -> int:
    taken = sum(each.bytes for each in computation.operands_of(instruction))
    return taken * size if kind == "all-gather" else taken


def _largest_type(computation: Computation, instruction: Instruction) -> str:
    arrays = [array for each in computation.operands_of(instruction) for array in each.arrays]
    return max(arrays, key=lambda array: array.bytes).dtype if arrays else ""


def _groups(instruction: Instruction, devices: int) -> tuple[Sequence[int], int]:
    """Finds the devices of the first group, and the number of groups."""
    text = instruction.text
    listed = _LIST.search(text)
    if listed:
        first = [int(each) for each in listed[1].split(",") if each]
        others = listed[2].count("{") + 1 if listed[2] else 0
        return first or range(devices), 1 + others
    iota = _IOTA.search(text)
    if iota:
        count, size = (int(each) for each in iota[1].split(","))
        return _iota_members(size, iota[2], iota[3]), count
    pairs = _PAIRS.search(text)
    if pairs:
        return sorted({int(each) for each in re.findall(r"\d+", pairs[1])}), 1
    return range(devices), 1


def _iota_members(size: int, sides: str, order: str | None) -> list[int]:
    """The first group of `[groups,size]<=[sides]T(order)`: numbers in order, reshaped, transposed, and cut up."""
    shape = [int(each) for each in sides.split(",")]
    axes = [int(each) for each in order.split(",")] if order else list(range(len(shape)))
    strides = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        strides[i] = strides[i + 1] * shape[i + 1]
    members: list[int] = []
    for flat in range(size):
        rest, member = flat, 0
        for axis in reversed(axes):
            rest, digit = divmod(rest, shape[axis])
            member += digit * strides[axis]
        members.append(member)
    return members


def _overlap(order: Sequence[Instruction], index: int) -> tuple[bool, bool]:
    """Tells whether a transfer is asynchronous, and whether something is computed before it is waited for."""
    start = order[index]
    if start.opcode == "fusion":
        if "start" not in start.name:
            return False, False
    elif not start.opcode.endswith("-start") or start.attribute("is_sync") == "true":
        return False, False
    # Kernels that compute meanwhile hand the transfer on, so the end is found by following what is handed on.
    carried = {start.name}
    computes = False
    for each in order[index + 1 :]:
        if carried.intersection(each.operands):
            if each.opcode.endswith("-done") or "-done" in each.name:
                return True, computes
            carried.add(each.name)
        computes = computes or each.opcode not in _IDLE
    return True, computes
