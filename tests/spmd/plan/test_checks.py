"""What is looked for in compiled programs."""

from spmd.plan.checks import check_program, custom_calls
from spmd.plan.facts import Memory
from tests.spmd.plan.programs import program_of


def passed(name: str, memory: Memory) -> list[bool]:
    return [check.passed for check in check_program(program_of(name), memory, 100)]


def test_a_good_program() -> None:
    assert passed("tpu_many", Memory(100, 100, 100, 0, 0)) == [True, True, True]


def test_callbacks_float64_and_copied_state_are_found() -> None:
    checks = check_program(program_of("cpu_permute"), Memory(100, 100, 0, 0, 0), 100)
    assert [check.passed for check in checks] == [False, False, False]
    assert "debug_callback" in checks[1].text
    assert "float64" in checks[2].text


def test_custom_calls_are_counted() -> None:
    assert custom_calls(program_of("cpu_permute")) == {"xla_ffi_python_cpu_callback": 1}
    assert custom_calls(program_of("tpu_many"))["AllocateBuffer"] == 1
