"""Source lines of compiled programs."""

from spmd.plan.frames import Frames, user_lines
from spmd.plan.hlo import parse_hlo
from tests.spmd.plan.programs import program_of, text_of

USER = "/home/user/train.py"


def line_of(name: str, opcode: str, is_user=lambda file, line: file == USER) -> str | None:
    program = program_of(name)
    frames = Frames(program, is_user)
    return next(
        frames.line_of(computation, each)
        for computation, _, _ in program.scheduled()
        for each in computation.instructions.values()
        if each.opcode == opcode
    )


def test_the_innermost_line_of_the_user_is_found() -> None:
    assert line_of("tpu_many", "all-reduce") == f"{USER}:22"
    assert line_of("cpu_permute", "collective-permute") == f"{USER}:39"
    assert line_of("cpu_permute", "all-to-all") == f"{USER}:40"
    assert line_of("gpu_fsdp", "all-gather-start") == f"{USER}:34"


def test_frames_that_are_not_the_users_lead_to_their_callers() -> None:
    # The all-reduce stands in line 22 (the product), which the loss of line 25 calls, which line 29 calls.
    found = line_of("tpu_many", "all-reduce", lambda file, line: file == USER and line != 22)
    assert found == f"{USER}:25"
    assert line_of("tpu_many", "all-reduce", lambda file, line: False) is None


def test_an_instruction_without_a_line_takes_that_of_its_operands() -> None:
    # On GPUs, XLA joins the gradients, and the sum of what it joined has no line.
    program = program_of("gpu_many")
    frames = Frames(program, lambda file, line: file == USER)
    (loop,) = (each for each, times, _ in program.scheduled() if times == 5)
    reduced = next(each for each in loop.instructions.values() if each.opcode == "all-reduce-start")
    assert frames.line_of(loop, reduced) == f"near {USER}:22"


def test_lines_in_instructions_as_older_versions_write_them() -> None:
    program = parse_hlo(
        "HloModule jit_f\n\nENTRY %main (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
        "  ROOT %add = f32[4]{0} add(%p, %p), "
        'metadata={op_name="add" source_file="/home/user/train.py" source_line=12}\n}\n'
    )
    main = program.computations["main"]
    assert Frames(program, lambda file, line: True).line_of(main, main.root) == f"{USER}:12"
    assert list(user_lines(program.text, lambda file: True)) == [f"{USER}:12"]


def test_the_users_lines_are_listed_with_their_text(tmp_path) -> None:
    script = tmp_path / "train.py"
    script.write_text("\n".join(f"line {i}" for i in range(1, 60)))
    text = text_of("tpu_many").replace(USER, str(script))
    found = user_lines(text, lambda file: file == str(script))
    assert found[f"{script}:22"] == "line 22"
    assert user_lines(text, lambda file: False) == {}
