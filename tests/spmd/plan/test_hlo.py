"""Reading compiled programs of TPUs, GPUs and processors."""

import pytest

from spmd.plan.hlo import parse_hlo, trip_count
from tests.spmd.plan.programs import DATA, program_of, text_of


@pytest.mark.parametrize("name", [path.stem for path in sorted(DATA.glob("*.txt"))])
def test_every_instruction_is_read(name) -> None:
    text, program = text_of(name), program_of(name)
    lines = [line for line in text.splitlines() if line.startswith("  ") and " = " in line]
    read = sum(len(each.instructions) for each in program.computations.values())
    assert read == len(lines) > 50
    for computation in program.computations.values():
        assert computation.root.is_root
        for each in computation.instructions.values():
            assert set(each.operands) <= set(computation.instructions), each
            assert set(each.called) <= set(program.computations), each


@pytest.mark.parametrize("platform", ["tpu", "gpu", "cpu"])
def test_loops_turn_as_often_as_their_scan(platform) -> None:
    program = program_of(f"{platform}_many")
    scheduled = list(program.scheduled())
    assert [times for _, times, _ in scheduled] == [1.0, 5.0]
    assert all(known for _, _, known in scheduled)


def test_a_loop_that_depends_on_data_counts_once() -> None:
    text = text_of("tpu_many").replace("direction=LT", "direction=NE")
    program = parse_hlo(text)
    assert [(times, known) for _, times, known in program.scheduled()] == [(1, True), (1, False)]
    entry = program.computations[program.entry]
    loop = next(each for each in entry.instructions.values() if each.opcode == "while")
    assert trip_count(program, loop) is None


def test_tuples_and_memory_spaces_are_read() -> None:
    program = program_of("tpu_fsdp")
    entry = program.computations[program.entry]
    gathered = next(each for each in entry.instructions.values() if each.opcode == "all-gather")
    assert gathered.arrays[0].shape == (1024, 1024)
    assert gathered.arrays[0].space == 1
    reduced = next(each for each in entry.instructions.values() if each.opcode == "all-reduce")
    assert reduced.is_tuple
    assert len(reduced.arrays) == len(reduced.operands) == 5
    assert reduced.bytes == 4 * 2 * 1024**2 + 2


def test_a_text_that_is_no_program() -> None:
    with pytest.raises(ValueError, match="marked ENTRY"):
        parse_hlo("module @jit_f {}")
