"""Predictions from compiled steps."""

import dataclasses

import pytest

from spmd.plan.chips import CHIPS
from spmd.plan.collectives import Collective
from spmd.plan.estimate import Work
from spmd.plan.scaling import Sample, find_batch_limit, fit_model, predict_scaling
from spmd.plan.topologies import parse_topology

V5E = CHIPS["v5e"]
GIB = 2**30
GRADIENTS = Collective(
    *("all-reduce", "all-reduce", "f32", 1, 10_000_000, 0.0, 4, 1, False, 1.0, True, False, False),
    line=None,
)
WORK = Work({"bfloat16": 197e12 * 1e-3}, 819e9 * 0.5e-3, (GRADIENTS,))
SAMPLE = Sample(parse_topology("v5e:2x2"), 4, 4, 64, 5 * GIB, 1 * GIB, 0, 1000, WORK)


def test_one_step_is_split_into_state_and_batch() -> None:
    model = fit_model([SAMPLE])
    assert (model.memory.fixed, model.memory.per_row) == (GIB, GIB / 16)
    limit = find_batch_limit(model, V5E.memory)
    assert (limit.rows, limit.global_batch) == (15 * 16, 4 * 15 * 16)
    assert "one compiled step" in limit.method


def test_what_lies_on_the_chip_moves_to_memory_as_it_grows() -> None:
    model = fit_model([dataclasses.replace(SAMPLE, on_chip=GIB)])
    assert model.memory.at(128) == GIB + 2 * (4 + 1) * GIB


def test_two_steps_give_a_line() -> None:
    double = Work({"bfloat16": 2 * 197e9}, 2 * WORK.memory_bytes, (GRADIENTS,))
    other = dataclasses.replace(SAMPLE, rows=128, memory=8 * GIB, work=double)
    model = fit_model([SAMPLE, other])
    assert model.memory.at(64) == 5 * GIB
    assert model.memory.at(128) == 8 * GIB
    assert find_batch_limit(model, V5E.memory).rows == int(64 * (16 - 2) / 3)
    assert model.work(96, 4).flops == pytest.approx(1.5 * 197e9)
    assert model.work(96, 4).memory_bytes == pytest.approx(1.5 * WORK.memory_bytes)
    assert "two compiled steps" in model.method


def test_the_limit_where_state_alone_is_too_large_or_memory_does_not_grow() -> None:
    full = dataclasses.replace(SAMPLE, memory=20 * GIB, fixed_memory=18 * GIB)
    assert find_batch_limit(fit_model([full]), V5E.memory).rows == 0
    flat = dataclasses.replace(SAMPLE, fixed_memory=SAMPLE.memory)
    assert find_batch_limit(fit_model([flat]), V5E.memory) is None


def test_groups_grow_with_the_devices() -> None:
    (reduced,) = fit_model([SAMPLE]).work(64, 256).collectives
    assert reduced.group_size == 256
    part = dataclasses.replace(GRADIENTS, group_size=2, groups=2)
    sample = dataclasses.replace(SAMPLE, work=dataclasses.replace(WORK, collectives=(part,)))
    assert fit_model([sample]).work(64, 256).collectives[0].group_size == 2


def test_the_same_global_batch() -> None:
    scaling = predict_scaling(fit_model([SAMPLE]), [SAMPLE], V5E)
    points = {point.topology: point for point in scaling.fixed_global}
    assert {point.global_batch for point in points.values()} == {256}
    assert points["v5e:16x16"].rows == 1
    assert points["v5e:2x2"].compiled
    assert points["v5e:2x2"].memory == SAMPLE.memory
    assert not points["v5e:4x4"].compiled
    # One chip sends nothing, so its step is its compute time.
    assert points["v5e:1x1"].step_seconds == pytest.approx(4e-3)
    assert points["v5e:1x1"].efficiency == 1
    assert points["v5e:16x16"].efficiency < points["v5e:2x2"].efficiency < 1
    assert not points["v5e:1x1"].fits
    assert points["v5e:2x2"].fits


def test_the_same_batch_for_each_chip() -> None:
    scaling = predict_scaling(fit_model([SAMPLE]), [SAMPLE], V5E)
    points = {point.topology: point for point in scaling.fixed_per_chip}
    assert {point.rows for point in points.values()} == {64}
    assert points["v5e:16x16"].global_batch == 64 * 256
    assert points["v5e:16x16"].efficiency > 0.8
    for point in points.values():
        assert point.rows_per_second == pytest.approx(point.global_batch / point.step_seconds)


def test_a_sweep_names_its_topologies() -> None:
    larger = dataclasses.replace(
        SAMPLE, topology=parse_topology("v5e:4x4"), devices=16, replicas=16
    )
    asked = [SAMPLE.topology, larger.topology]
    scaling = predict_scaling(fit_model([SAMPLE, larger]), [SAMPLE, larger], V5E, asked)
    assert [point.topology for point in scaling.fixed_per_chip] == ["v5e:2x2", "v5e:4x4"]
    assert [point.compiled for point in scaling.fixed_per_chip] == [True, True]
    assert [point.rows for point in scaling.fixed_global] == [64, 16]
    assert [point.topology for point in scaling.compiled] == ["v5e:2x2", "v5e:4x4"]
    assert scaling.compiled[0].efficiency == 1
