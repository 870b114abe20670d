"""Finds the user's source line that an instruction of a compiled program came from.

XLA names lines in tables at the head of a program (files, functions, places, and frames that name their callers), or, in
older versions, in each instruction.
"""

import linecache
import re
from collections.abc import Callable, Iterator

from spmd.plan.hlo import Computation, HloProgram, Instruction

_ENTRY = re.compile(r'^(\d+) (?:"(.*)"|\{(.*)\})$')
_OLD_LINE = re.compile(r'source_file="([^"]+)" source_line=(\d+)')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
# Instructions that XLA makes have no frames: those of what they take are asked, up to so many before them.
_DEPTH = 4


class Frames:
    """The frames of a program.

    Examples:
        >>> from spmd.plan.hlo import parse_hlo
        >>> program = parse_hlo('''HloModule jit_f
        ...
        ... FileNames
        ... 1 "train.py"
        ...
        ... FunctionNames
        ... 1 "step"
        ...
        ... FileLocations
        ... 1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=9}
        ...
        ... StackFrames
        ... 1 {file_location_id=1 parent_frame_id=1}
        ...
        ... ENTRY %main (p: f32[4]) -> f32[4] {
        ...   %p = f32[4]{0} parameter(0)
        ...   ROOT %twice = f32[4]{0} add(%p, %p), metadata={op_name="jit(f)/add" stack_frame_id=1}
        ... }
        ... ''')
        >>> main = program.computations["main"]
        >>> Frames(program, lambda file, line: True).line_of(main, main.root)
        'train.py:7'
    """

    def __init__(self, program: HloProgram, is_user: Callable[[str, int], bool]) -> None:
        """Reads the tables.

        Args:
            program: with its frames.
            is_user: tells whether a line, by file and number, is the user's.
        """
        self._program, self._is_user = program, is_user
        tables = _tables(program.text)
        self._files, self._functions, self._places, self._frames = (
            tables.get(name, {}) for name in _TABLES
        )
        # The table numbers a caller one higher than the frame itself, and the first frame has none.
        first = self._frames.get(1)
        self._shift = _number(first, "parent_frame_id") if first else 0

    def line_of(self, computation: Computation, instruction: Instruction) -> str | None:
        """Finds the innermost line of the user's.

        Args:
            computation: that holds the instruction.
            instruction: whose line is asked for.

        Returns:
            `"file.py:12"`; with `"near "` before it if only the instructions that it takes have a line. Or None.
        """
        seen = [instruction]
        for depth in range(_DEPTH):
            for each in seen:
                for candidate in self._with_inner(each) if depth else [each]:
                    line = self._line(candidate)
                    if line:
                        return f"near {line}" if depth else line
            seen = [taken for each in seen for taken in computation.operands_of(each)]
        return None

    def _with_inner(self, instruction: Instruction) -> Iterator[Instruction]:
        yield instruction
        for name in instruction.called if instruction.opcode == "fusion" else ():
            yield from self._program.computations[name].instructions.values()

    def _line(self, instruction: Instruction) -> str | None:
        frame = instruction.attribute("stack_frame_id")
        for file, line in self._stack(int(frame)) if frame else ():
            if self._is_user(file, line):
                return f"{file}:{line}"
        old = _OLD_LINE.search(instruction.text)
        if old and self._is_user(old[1], int(old[2])):
            return f"{old[1]}:{old[2]}"
        return None

    def _stack(self, frame: int) -> Iterator[tuple[str, int]]:
        """Walks from a frame to its callers."""
        while frame in self._frames:
            place = self._places.get(_number(self._frames[frame], "file_location_id"), "")
            file = self._files.get(_number(place, "file_name_id"), "")
            yield file, _number(place, "line")
            caller = _number(self._frames[frame], "parent_frame_id") - self._shift
            if caller >= frame:
                return
            frame = caller


def user_lines(text: str, is_user_file: Callable[[str], bool]) -> dict[str, str]:
    """Finds the lines of the user's files that a program names.

    Args:
        text: of the program.
        is_user_file: tells whether a file is the user's.

    Returns:
        Each line by `"file.py:12"`; empty where the file cannot be read.
    """
    tables = _tables(text)
    files, places = tables.get("FileNames", {}), tables.get("FileLocations", {})
    named = [
        (files.get(_number(each, "file_name_id"), ""), _number(each, "line"))
        for each in places.values()
    ]
    named += [(file, int(line)) for file, line in _OLD_LINE.findall(text)]
    return {
        f"{file}:{line}": linecache.getline(file, line).strip()
        for file, line in named
        if file and is_user_file(file)
    }


def _tables(text: str) -> dict[str, dict[int, str]]:
    tables: dict[str, dict[int, str]] = {}
    current: dict[int, str] | None = None
    for line in text.splitlines():
        if line in _TABLES:
            current = tables.setdefault(line, {})
        elif current is not None:
            entry = _ENTRY.match(line)
            if entry:
                current[int(entry[1])] = entry[2] if entry[2] is not None else entry[3]
            elif line:  # the first computation
                return tables
    return tables


def _number(text: str, name: str) -> int:
    found = re.search(rf"\b{name}=(\d+)", text)
    return int(found[1]) if found else 0
