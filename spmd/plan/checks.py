"""Looks for what makes a program slow or wrong on an accelerator: calls of the host, 64-bit numbers, state that is copied."""

import collections
import dataclasses

from spmd.plan.facts import Memory
from spmd.plan.hlo import HloProgram, Instruction
from spmd.plan.units import format_bytes

_HOST = frozenset(("infeed", "outfeed", "send", "recv", "send-done", "recv-done"))


@dataclasses.dataclass(frozen=True)
class Check:
    """What was looked for in a program.

    Attributes:
        name: of the check.
        passed: whether all is well.
        text: what was found.
    """

    name: str
    passed: bool
    text: str


def check_program(program: HloProgram, memory: Memory, state_bytes: int) -> tuple[Check, ...]:
    """Checks a program.

    Args:
        program: compiled.
        memory: what it takes.
        state_bytes: bytes of the state on one device.

    Examples:
        >>> from spmd.plan.hlo import parse_hlo
        >>> program = parse_hlo('''HloModule jit_f
        ...
        ... ENTRY %main (p: f64[4]) -> f64[4] {
        ...   %p = f64[4]{0} parameter(0)
        ...   ROOT %twice = f64[4]{0} add(%p, %p)
        ... }
        ... ''')
        >>> [check.passed for check in check_program(program, Memory(32, 32, 32, 0, 0), 32)]
        [True, True, False]
    """
    every = [
        each
        for computation in program.computations.values()
        for each in computation.instructions.values()
    ]
    host = [each.name for each in every if _calls_host(each)]
    wide = [each for each in every if any(array.dtype in ("f64", "c128") for array in each.arrays)]
    in_place = memory.aliased > 0 or not state_bytes
    return (
        Check(
            "State is updated in place",
            in_place,
            f"{format_bytes(memory.aliased)} of results lie where arguments lay, of "
            f"{format_bytes(state_bytes)} of state."
            + ("" if in_place else " Old and new state are in memory together."),
        ),
        Check(
            "No calls of the host",
            not host,
            f"Each of these waits for Python on the host: {', '.join(host[:5])}."
            if host
            else "The program runs without Python.",
        ),
        Check(
            "No 64-bit numbers",
            not wide,
            f"{len(wide)} operations work on float64, which TPUs emulate: look at {wide[0].name}."
            if wide
            else "No operation works on float64.",
        ),
    )


def custom_calls(program: HloProgram) -> dict[str, int]:
    """Counts the operations that are no ordinary ones of XLA, by the name of what they call.

    Args:
        program: compiled.
    """
    found = collections.Counter(
        each.attribute("custom_call_target") or ""
        for computation in program.computations.values()
        for each in computation.instructions.values()
        if each.opcode == "custom-call"
    )
    return dict(found.most_common())


def _calls_host(instruction: Instruction) -> bool:
    if instruction.opcode == "custom-call":
        target = (instruction.attribute("custom_call_target") or "").lower()
        return "callback" in target or target == "movetohost"
    return instruction.opcode in _HOST and not instruction.opcode.endswith("-done")
