"""Reads the text of a program that XLA compiled: its computations, their instructions, and how often loops turn.

A *computation* is a list of instructions in the order in which they start; the *entry* is what one call runs. Loops,
branches and fusions name the computations that they run. A fusion's computation is one kernel.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping

# A type: f32[3,3,1,32]{3,2,1,0:T(1,128)S(1)}. The memory space S(1) is on the chip, S(5) is the host's.
_ARRAY = re.compile(r"\b([a-z]+[0-9]*[a-z0-9]*)\[([0-9,<=]*)\](?:\{([^}]*)\})?")
_SPACE = re.compile(r"S\((\d+)\)")
_INSTRUCTION = re.compile(r"\s+(ROOT )?%?([\w.\-]+) = (.*)")
_OPCODE = re.compile(r" ?([a-z][\w\-]*)\(")
_HEADER = re.compile(r"(ENTRY )?%?([\w.\-]+) .*\{$")
_NAME = re.compile(r"%([\w.\-]+)")
_CALLED = re.compile(
    r"(?:calls|to_apply|body|condition|called_computations|branch_computations|true_computation|false_computation)="
    r"(?:\{([^}]*)\}|%?([\w.\-]+))"
)
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_CONSTANT = re.compile(r"^constant\((-?\d+)\)")
_BITS = {"pred": 8, "token": 0, "opaque": 0}


@dataclasses.dataclass(frozen=True)
class Array:
    """Type of an array in a program.

    Attributes:
        dtype: XLA's name of its elements' type, such as `"bf16"`.
        shape: its sizes.
        space: the memory that it lies in: 0 is the device's, 1 on-chip memory, 5 the host's.
    """

    dtype: str
    shape: tuple[int, ...]
    space: int = 0

    @property
    def bytes(self) -> int:
        """Of its elements, without padding."""
        size = 1
        for side in self.shape:
            size *= side
        return (size * bits_of(self.dtype) + 7) // 8


@dataclasses.dataclass(frozen=True)
class Instruction:
    """An operation of a program.

    Attributes:
        name: unique in its computation.
        opcode: what it does, such as `"fusion"`.
        arrays: its results.
        operands: names of the instructions that it takes.
        text: what follows the opcode: operands and attributes.
        is_root: whether its computation returns it.
        is_tuple: whether its results form a tuple.
    """

    name: str
    opcode: str
    arrays: tuple[Array, ...]
    operands: tuple[str, ...]
    text: str
    is_root: bool
    is_tuple: bool

    @property
    def bytes(self) -> int:
        """Of its results."""
        return sum(array.bytes for array in self.arrays)

    @property
    def called(self) -> tuple[str, ...]:
        """Names of the computations that it runs, or uses to combine elements."""
        return tuple(
            name
            for several, one in _CALLED.findall(self.text)
            for name in (_NAME.findall(several) if several else [one])
        )

    def attribute(self, name: str) -> str | None:
        """Finds what stands behind `name=`, or behind `"name":` in its configuration, up to the next comma.

        Args:
            name: of the attribute.
        """
        found = re.search(rf'(?:\b{name}=|"{name}":)"?([^",\s}}]+)', self.text)
        return found[1] if found else None


@dataclasses.dataclass(frozen=True)
class Computation:
    """A list of instructions.

    Attributes:
        name: unique in the program.
        instructions: in the order in which they start, by name.
    """

    name: str
    instructions: Mapping[str, Instruction]

    @property
    def root(self) -> Instruction:
        """What the computation returns."""
        return next(each for each in self.instructions.values() if each.is_root)

    def operands_of(self, instruction: Instruction) -> list[Instruction]:
        """Finds the instructions whose results another one takes."""
        return [
            self.instructions[name] for name in instruction.operands if name in self.instructions
        ]


@dataclasses.dataclass(frozen=True)
class HloProgram:
    """A compiled program.

    Attributes:
        text: all of it.
        computations: by name.
        entry: name of the computation that a call runs.
    """

    text: str
    computations: Mapping[str, Computation]
    entry: str

    def scheduled(self) -> Iterator[tuple[Computation, float, bool]]:
        """Finds the computations that run as lists of kernels, from the entry on.

        Yields:
            The computation, how often one call runs it, and whether that is known: a loop whose length depends on the
            data counts as one turn. Of the branches of a condition, each counts as if it was taken.
        """
        yield from self._scheduled(self.entry, 1.0, True)

    def _scheduled(
        self, name: str, times: float, known: bool
    ) -> Iterator[tuple[Computation, float, bool]]:
        computation = self.computations[name]
        yield computation, times, known
        for each in computation.instructions.values():
            if each.opcode == "while":
                turns = trip_count(self, each)
                body = each.attribute("body")
                if body is not None:
                    yield from self._scheduled(
                        body.lstrip("%"), times * (turns or 1), known and turns is not None
                    )
            elif each.opcode in ("conditional", "call"):
                for called in each.called:
                    yield from self._scheduled(called, times, known)


def parse_hlo(text: str) -> HloProgram:
    """Reads a program.

    Args:
        text: what `compiled.as_text()` returns, of any platform.

    Returns:
        The program.

    Raises:
        ValueError: the text has no entry computation.

    Examples:
        >>> program = parse_hlo('''HloModule jit_f
        ...
        ... ENTRY %main (p: f32[4]) -> f32[4] {
        ...   %p = f32[4]{0} parameter(0)
        ...   ROOT %twice = f32[4]{0} add(%p, %p)
        ... }
        ... ''')
        >>> program.computations["main"].root.operands, program.computations["main"].root.bytes
        (('p', 'p'), 16)
    """
    computations: dict[str, Computation] = {}
    entry, name = "", ""
    found: dict[str, Instruction] = {}
    for line in text.splitlines():
        if line and not line[0].isspace():
            header = _HEADER.match(line)
            if header and "->" in line:
                name, found = header[2], {}
                entry = name if header[1] else entry
            elif line.startswith("}") and name:
                computations[name] = Computation(name, found)
                name = ""
        elif name:
            instruction = _instruction(line)
            if instruction is not None:
                found[instruction.name] = instruction
    if not entry:
        raise ValueError(
            "Expected the text of a compiled program, with a computation marked ENTRY, found "
            f"{len(text)} characters without one. Pass what compiled.as_text() returns."
        )
    return HloProgram(text, computations, entry)


def _instruction(line: str) -> Instruction | None:
    match = _INSTRUCTION.match(line)
    if match is None:
        return None
    # The result's type may hold parentheses, so the opcode is looked for behind it.
    end = _end_of_type(match[3])
    opcode = _OPCODE.match(match[3], end)
    if opcode is None:
        return None
    rest = match[3][opcode.start(1) :]
    operands, _ = _parenthesized(rest, len(opcode[1]))
    names = () if opcode[1] in ("constant", "parameter") else tuple(_NAME.findall(operands))
    kind = match[3][:end]
    return Instruction(
        *(match[2], opcode[1], parse_arrays(kind), names, rest),
        is_root=bool(match[1]),
        is_tuple=kind.startswith("("),
    )


def _end_of_type(text: str) -> int:
    if text.startswith("("):
        return _parenthesized(text, 0)[1]
    depth = 0
    for i, character in enumerate(text):
        if character in "{([":
            depth += 1
        elif character in "})]":
            depth -= 1
        elif character == " " and not depth:
            return i
    return len(text)


def _parenthesized(text: str, start: int) -> tuple[str, int]:
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return text[start + 1 : i], i + 1
    return text[start + 1 :], len(text)


def parse_arrays(text: str) -> tuple[Array, ...]:
    """Reads a type, or the types in a tuple, in order.

    Args:
        text: as in a program.

    Examples:
        >>> parse_arrays("(bf16[8,128]{1,0:T(8,128)(2,1)S(1)}, u32[]{:S(2)})")
        (Array(dtype='bf16', shape=(8, 128), space=1), Array(dtype='u32', shape=(), space=2))
    """
    return tuple(
        Array(
            dtype,
            tuple(int(side.lstrip("<=")) for side in sides.split(",") if side),
            int(space[1]) if (space := _SPACE.search(layout)) else 0,
        )
        for dtype, sides, layout in _ARRAY.findall(text)
    )


def bits_of(dtype: str) -> int:
    """Size of an element in bits.

    Args:
        dtype: XLA's name, such as `"bf16"`, `"f8e4m3fn"` or `"s4"`.

    Examples:
        >>> [bits_of(dtype) for dtype in ("pred", "bf16", "f8e4m3fn", "c64", "s4")]
        [8, 16, 8, 64, 4]
    """
    if dtype in _BITS:
        return _BITS[dtype]
    found = re.match(r"[a-z]+(\d+)", dtype)
    return int(found[1]) if found else 0


def trip_count(program: HloProgram, loop: Instruction) -> int | None:
    """Finds how often a loop turns.

    Args:
        program: that holds it.
        loop: a `while` instruction.

    Returns:
        The number, as the compiler found it, or from a condition that compares a counter, from zero on, with a
        constant. None if it depends on the data.
    """
    known = _TRIPS.search(loop.text)
    if known:
        return int(known[1])
    name = (loop.attribute("condition") or "").lstrip("%")
    condition = program.computations.get(name)
    if condition is None or condition.root.opcode != "compare":
        return None
    compared = condition.operands_of(condition.root)
    if len(compared) != 2 or compared[0].opcode != "get-tuple-element":
        return None
    limit = _CONSTANT.match(compared[1].text)
    direction = condition.root.attribute("direction")
    if limit is None or direction not in ("LT", "LE"):
        return None
    return int(limit[1]) + (direction == "LE")
