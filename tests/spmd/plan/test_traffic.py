"""Bytes between memory and compute units."""

import pytest

from spmd.plan.hlo import parse_hlo
from spmd.plan.traffic import memory_traffic, on_chip_peak
from tests.spmd.plan.programs import program_of, text_of


def test_agrees_with_xla_where_it_has_no_loops_and_no_memory_on_the_chip() -> None:
    # compiled.cost_analysis()["bytes accessed"], as XLA gave it for the programs in data.
    assert memory_traffic(program_of("cpu_permute")) == pytest.approx(1179729, rel=0.001)
    once = text_of("cpu_many").replace('{"n":"5"}', '{"n":"1"}')
    assert memory_traffic(parse_hlo(once)) == pytest.approx(3047657, rel=0.05)


def test_loops_count_as_often_as_they_turn() -> None:
    text = text_of("cpu_many")
    one, five, nine = (
        memory_traffic(parse_hlo(text.replace('{"n":"5"}', f'{{"n":"{n}"}}'))) for n in (1, 5, 9)
    )
    assert nine - five == five - one > 0.8 * one


def test_arrays_on_the_chip_cost_nothing() -> None:
    program = program_of("tpu_many")
    everywhere = parse_hlo(text_of("tpu_many").replace("S(1)", ""))
    assert memory_traffic(program) < 0.5 * memory_traffic(everywhere)
    assert on_chip_peak(program) > 0
    assert on_chip_peak(everywhere) == 0


def kernel(body: str, operands: str, result: str) -> float:
    return memory_traffic(
        parse_hlo(
            f"""HloModule m

%kernel (a: f32[100,8], b: f32[1,8]) -> {result} {{
  %a = f32[100,8]{{1,0}} parameter(0)
  %b = f32[1,8]{{1,0}} parameter(1)
  %i = s32[] constant(0)
{body}
}}

ENTRY %main (a: f32[100,8], b: f32[1,8]) -> {result} {{
  %a = f32[100,8]{{1,0}} parameter(0)
  %b = f32[1,8]{{1,0}} parameter(1)
  ROOT %f = {result} fusion({operands}), kind=kLoop, calls=%kernel
}}
"""
        )
    )


def test_a_kernel_that_slices_reads_the_slice() -> None:
    body = """  %s = f32[1,8]{1,0} dynamic-slice(%a, %i, %i), dynamic_slice_sizes={1,8}
  ROOT %r = f32[1,8]{1,0} add(%s, %b)"""
    assert kernel(body, "%a, %b", "f32[1,8]{1,0}") == 3 * 32


def test_a_kernel_that_changes_a_row_writes_the_row() -> None:
    body = "  ROOT %r = f32[100,8]{1,0} dynamic-update-slice(%a, %b, %i, %i)"
    assert kernel(body, "%a, %b", "f32[100,8]{1,0}") == 2 * 32
