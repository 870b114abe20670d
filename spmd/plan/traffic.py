"""Estimates the bytes that a compiled program moves between a device's memory and its compute units.

Each kernel reads what it takes from memory, and writes its results, once: what it keeps to itself costs nothing, and no
cache is assumed. A kernel that takes a slice of an array, or writes one, moves the slice. Arrays that the compiler
places on the chip cost nothing. This is an estimate; XLA's own one counts the bodies of loops once, counts on-chip
memory, too, and is not to be had for GPUs.
"""

from spmd.plan.hlo import Computation, HloProgram, Instruction

_FREE = frozenset(
    [
        "parameter",
        "constant",
        "tuple",
        "get-tuple-element",
        "bitcast",
        "after-all",
        "while",
        "call",
        "conditional",
        "partition-id",
        "replica-id",
        "add-dependency",
        "opt-barrier",
        "iota",
        "async-update",
    ]
)
_HANDED_ON = frozenset(("get-tuple-element", "tuple", "bitcast", "parameter"))
_SLICES = frozenset(("slice", "dynamic-slice", "gather"))


def memory_traffic(program: HloProgram) -> float:
    """Estimates the bytes that one call reads and writes, on one device.

    Args:
        program: compiled, of one device.

    Examples:
        >>> from spmd.plan.hlo import parse_hlo
        >>> memory_traffic(
        ...     parse_hlo('''HloModule jit_f
        ...
        ... ENTRY %main (p: f32[4]) -> f32[4] {
        ...   %p = f32[4]{0} parameter(0)
        ...   ROOT %twice = f32[4]{0} add(%p, %p)
        ... }
        ... ''')
        ... )
        32.0
    """
    return sum(
        times
        * sum(_moved(program, computation, each) for each in computation.instructions.values())
        for computation, times, _ in program.scheduled()
    )


def on_chip_peak(program: HloProgram) -> int:
    """Finds how many bytes the compiler keeps in on-chip memory at once, at most.

    What lies there at some batch lies in the device's memory at a larger one.

    Args:
        program: compiled, of one device.
    """
    return max(_peak(computation) for computation, _, _ in program.scheduled())


def _peak(computation: Computation) -> int:
    order = list(computation.instructions.values())
    last = {each.name: index for index, each in enumerate(order)}
    for index, each in enumerate(order):
        for name in each.operands:
            last[name] = index
    for each in reversed(order):  # what only hands on an array keeps it alive
        if each.opcode in _HANDED_ON or each.opcode.endswith("-done"):
            for name in each.operands:
                last[name] = max(last.get(name, 0), last[each.name])
    ends: dict[int, int] = {}
    live = most = 0
    for index, each in enumerate(order):
        if each.opcode not in _HANDED_ON and not each.opcode.endswith("-done"):
            size = sum(array.bytes for array in each.arrays if array.space == 1)
            live += size
            ends[last[each.name]] = ends.get(last[each.name], 0) + size
        most = max(most, live)
        live -= ends.pop(index, 0)
    return most


def _moved(program: HloProgram, computation: Computation, instruction: Instruction) -> float:
    opcode = instruction.opcode
    if opcode in _FREE or opcode.endswith("-done"):
        return 0.0
    operands = list(dict.fromkeys(instruction.operands))
    taken = [
        computation.instructions[name] for name in operands if name in computation.instructions
    ]
    if opcode == "fusion":
        return _fusion(program, instruction, taken)
    if opcode in _SLICES:
        read = min(_in_memory(taken[0]), instruction.bytes)
        return float(read + _in_memory(instruction))
    if opcode == "dynamic-update-slice":
        return 2.0 * _in_memory(taken[1]) if len(taken) > 1 else 0.0
    if opcode.endswith("-start"):
        return _started(instruction, taken)
    return float(sum(map(_in_memory, taken)) + _in_memory(instruction))


def _started(instruction: Instruction, taken: list[Instruction]) -> float:
    """A transfer's results hold what it takes, what it gives, and its state."""
    given = instruction.arrays
    if instruction.opcode == "copy-start":
        given = given[:1]
    elif instruction.is_tuple and len(given) > len(taken):
        given = given[len(taken) : 2 * len(taken)]
    size = sum(array.bytes for array in given)
    written = sum(array.bytes for array in given if array.space == 0)
    # A slice reads what it gives; a copy or a collective reads all that it takes.
    read = sum(map(_in_memory, taken))
    if instruction.opcode in ("slice-start", "dynamic-slice-start"):
        read = min(read, size)
    return float(read + written)


def _fusion(program: HloProgram, instruction: Instruction, taken: list[Instruction]) -> float:
    inner = program.computations[instruction.called[0]]
    parameters = [each for each in inner.instructions.values() if each.opcode == "parameter"]
    by_name = dict(zip(instruction.operands, _in_order(parameters), strict=False))
    total = 0.0
    for operand in taken:
        size = _in_memory(operand)
        parameter = by_name.get(operand.name)
        total += min(size, _read_of(inner, parameter)) if size and parameter else size
    return total + min(_in_memory(instruction), _written_by(inner, instruction))


def _in_order(parameters: list[Instruction]) -> list[Instruction]:
    def number(parameter: Instruction) -> int:
        return int(parameter.text.removeprefix("parameter(").partition(")")[0])

    return sorted(parameters, key=number)


def _read_of(inner: Computation, parameter: Instruction) -> float:
    """Bytes that a kernel reads of one that it takes: all, unless it only slices it, or writes into it."""
    read = 0.0
    for user in _users(inner, parameter):
        if user.opcode in _SLICES:
            read += user.bytes
        elif user.opcode != "dynamic-update-slice" or not _is_target(inner, user, parameter):
            return float(parameter.bytes)
    return read


def _is_target(inner: Computation, update: Instruction, parameter: Instruction) -> bool:
    target = inner.instructions[update.operands[0]]
    while target.opcode == "bitcast":
        target = inner.instructions[target.operands[0]]
    return target.name == parameter.name


def _users(inner: Computation, source: Instruction) -> list[Instruction]:
    found: list[Instruction] = []
    for each in inner.instructions.values():
        if source.name in each.operands:
            found += _users(inner, each) if each.opcode == "bitcast" else [each]
    return found


def _written_by(inner: Computation, fusion: Instruction) -> float:
    """Bytes that a kernel writes: of arrays that it changes in place, only what changes."""
    root = inner.root
    parts = inner.operands_of(root) if root.opcode == "tuple" else [root]
    total = 0.0
    for part in parts:
        while part.opcode == "bitcast":
            part = inner.operands_of(part)[0]
        if part.opcode == "dynamic-update-slice":
            total += inner.instructions[part.operands[1]].bytes
        else:
            total += part.bytes
    return total if total else float(fusion.bytes)


def _in_memory(instruction: Instruction) -> int:
    return sum(array.bytes for array in instruction.arrays if array.space == 0)
