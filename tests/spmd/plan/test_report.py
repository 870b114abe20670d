"""Plans made of what compiling told."""

import dataclasses
import json

import pytest

from spmd.plan.facts import Buffer, Memory
from spmd.plan.report import Plan, make_plan
from tests.spmd.plan.programs import facts_of


def test_parts_of_memory_add_up_to_what_xla_counts() -> None:
    facts = facts_of()
    plan = make_plan(facts)
    parts = {part.kind: part.bytes for part in plan.memory_parts}
    assert sum(parts.values()) == plan.memory.total == facts.memory.total
    assert (parts["parameters"], parts["input"]) == (65536, 65536)
    assert parts["temporaries"] == 212992
    assert parts["results"] == 66560 - 65536
    assert plan.fits
    assert plan.memory_limit == 16 * 2**30


def test_padding_and_arguments_that_are_left_out() -> None:
    padded = make_plan(facts_of(memory=Memory(131072 + 512, 0, 0, 0, 0)))
    assert {part.kind: part.bytes for part in padded.memory_parts}["padding of these"] == 512
    unused = make_plan(facts_of(memory=Memory(131072 - 32768, 0, 0, 0, 0)))
    assert {part.kind: part.bytes for part in unused.memory_parts} == {
        "parameters": 65536,
        "input": 32768,
    }


def test_figures_are_of_one_step() -> None:
    plan = make_plan(facts_of())
    assert plan.steps_per_call == 5
    assert plan.flops == {"bfloat16": 5 * 2 * 128**3}
    assert plan.elementwise_flops == 1e6
    assert plan.sent_bytes == pytest.approx(2 * 3 / 4 * (65536 + 2))
    assert plan.estimate.compute_seconds == pytest.approx(5 * 2 * 128**3 / 197e12)
    assert plan.rows == 128
    assert plan.parameter_bytes == 65536


def test_lines_are_named_with_their_text() -> None:
    plan = make_plan(facts_of())
    assert plan.collectives[0].line == "/home/user/train.py:22"
    assert plan.sources == {"/home/user/train.py:22": "x = jnp.tanh(x @ w)  # <b>"}


def test_padded_rows_are_what_is_compiled() -> None:
    plan = make_plan(facts_of(global_batch=500))
    assert plan.rows == 128
    assert plan.scaling.fixed_global[0].global_batch == 512


def test_json_and_back() -> None:
    for facts in (
        facts_of(),
        facts_of(global_batch=None),
        facts_of("cpu_many", topology="cpu:4", chip="cpu", compiler_cost={}),
    ):
        plan = make_plan(facts)
        text = plan.to_json()
        assert Plan.from_json(text) == plan
        assert "HloModule" not in text
    fields = json.loads(text)
    with pytest.raises(ValueError, match="found format 7"):
        Plan.from_json(json.dumps({**fields, "format": 7}))


def test_a_chip_without_figures() -> None:
    plan = make_plan(facts_of("cpu_many", topology="cpu:4", chip="cpu"))
    assert plan.estimate is plan.scaling is plan.batch_limit is plan.fits is None
    assert any("no time is estimated" in note for note in plan.notes)
    assert plan.collectives
    assert plan.memory_parts


def test_a_step_without_a_batch_is_not_scaled() -> None:
    plan = make_plan(facts_of(global_batch=None))
    assert plan.scaling is None
    assert plan.batch_limit is None
    assert plan.estimate is not None


def test_other_batches_make_a_line() -> None:
    larger = Memory(131072 + 65536, 66560, 65536, 2 * 212992, 1208320)
    buffers = (
        Buffer("w", "parameters", 65536, "bfloat16", (2, 128, 128)),
        Buffer("x", "input", 131072, "bfloat16", (1024, 128)),
    )
    other = facts_of(global_batch=1024, memory=larger, buffers=buffers)
    plan = make_plan(facts_of(), [other])
    growth = larger.total - plan.memory.total
    assert "two compiled steps" in plan.batch_limit.method
    fits = (16 * 2**30 - plan.memory.total) * 128 // growth + 128
    assert plan.batch_limit.rows == pytest.approx(fits, abs=1)
    # Both topologies are the same, so the curves go through the usual ones.
    assert len(plan.scaling.fixed_per_chip) == 8


def test_other_topologies_are_a_sweep() -> None:
    other = dataclasses.replace(facts_of(), topology="v5e:4x4", devices=16, replicas=16)
    plan = make_plan(facts_of(), [other])
    assert [point.topology for point in plan.scaling.compiled] == ["v5e:2x2", "v5e:4x4"]
    assert [point.topology for point in plan.scaling.fixed_global] == ["v5e:2x2", "v5e:4x4"]
    elsewhere = dataclasses.replace(other, topology="h100:8", chip="h100")
    assert len(make_plan(facts_of(), [elsewhere]).scaling.compiled) == 1


def test_what_does_not_fit() -> None:
    plan = make_plan(facts_of(memory=Memory(10 * 2**30, 0, 0, 10 * 2**30, 0)))
    assert plan.fits is False


def test_loops_of_unknown_length_are_noted() -> None:
    facts = facts_of()
    plan = make_plan(
        dataclasses.replace(facts, hlo=facts.hlo.replace("direction=LT", "direction=NE"))
    )
    assert any("counted for one turn" in note for note in plan.notes)
