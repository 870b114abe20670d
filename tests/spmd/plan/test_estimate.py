"""Times of steps, against sums by hand."""

import dataclasses

import pytest

from spmd.plan.chips import CHIPS
from spmd.plan.collectives import Collective
from spmd.plan.estimate import Work, collective_seconds, estimate_step

V5E, H100 = CHIPS["v5e"], CHIPS["h100"]
REDUCE = Collective(
    *(
        "all-reduce",
        "all-reduce",
        "f32",
        1,
        180_000_000,
        0.0,
        256,
        1,
        False,
        1.0,
        True,
        False,
        False,
    ),
    line=None,
)


def of(**changes) -> Collective:
    return dataclasses.replace(REDUCE, **changes)


def test_an_all_reduce_over_a_torus_uses_all_links() -> None:
    found = collective_seconds(REDUCE, V5E, (16, 16))
    assert found == pytest.approx(2 * 255 / 256 * 180e6 / (4 * 45e9) + 2 * 16 * 1e-6)
    # Without rings, each of two sides has one link: half as fast, and on a smaller slice.
    small = collective_seconds(of(group_size=4), V5E, (2, 2))
    assert small == pytest.approx(2 * 3 / 4 * 180e6 / (2 * 45e9) + 2 * 2 * 1e-6)


def test_a_group_along_one_side_uses_its_links_only() -> None:
    found = collective_seconds(of(group_size=16, groups=16), V5E, (16, 16))
    assert found == pytest.approx(2 * 15 / 16 * 180e6 / (2 * 45e9) + 2 * 8 * 1e-6)


def test_machines_send_a_part_of_the_array_each() -> None:
    within = collective_seconds(of(group_size=8), H100, (8,))
    assert within == pytest.approx(2 * 7 / 8 * 180e6 / 450e9)
    across = collective_seconds(of(group_size=32, across_slices=True), H100, (8,), 4)
    assert across == pytest.approx(within + 2 * 3 / 4 * (180e6 / 8) / 50e9)


def test_other_kinds() -> None:
    gather = collective_seconds(of(kind="all-gather", group_size=8), H100, (8,))
    assert gather == pytest.approx(7 / 8 * 180e6 / 450e9)
    shift = collective_seconds(of(kind="collective-permute"), V5E, (16, 16))
    assert shift == pytest.approx(180e6 / 45e9 + 1e-6)
    exchange = collective_seconds(of(kind="all-to-all"), V5E, (16, 16))
    assert exchange == pytest.approx(180e6 * (4 + 4) / (4 * 45e9) + 16e-6)
    far = of(kind="collective-permute", across_slices=True)
    assert collective_seconds(far, V5E, (16, 16), 2) == pytest.approx(180e6 / 3.125e9)


def test_what_is_overlapped_costs_nothing_until_it_takes_longer() -> None:
    each = collective_seconds(REDUCE, V5E, (16, 16))
    hidden = of(is_async=True, overlapped=True)
    slow = {"bfloat16": 197e12 * 2 * each}

    def step(products, collectives):
        return estimate_step(Work(products, 0.0, collectives), V5E, (16, 16))

    assert step(slow, [REDUCE]).step_seconds == pytest.approx(3 * each)
    assert step(slow, [hidden]).step_seconds == pytest.approx(2 * each)
    assert step(slow, [hidden]).bound == step(slow, [REDUCE]).bound == "compute"
    three = step(slow, [hidden] * 3)
    assert three.step_seconds == pytest.approx(3 * each)
    assert three.bound == "interconnect"


def test_bounds_and_utilization() -> None:
    work = Work({"float32": 197e9, "bfloat16": 197e9}, 819e6, ())
    found = estimate_step(work, V5E, (2, 2))
    assert (found.compute_seconds, found.memory_seconds) == pytest.approx((2e-3, 1e-3))
    assert (found.bound, found.mfu) == ("compute", 1.0)
    wider = dataclasses.replace(work, memory_bytes=4 * 819e6)
    assert estimate_step(wider, V5E, (2, 2)).bound == "HBM"
    assert estimate_step(wider, V5E, (2, 2)).mfu == pytest.approx(0.5)
    # TF32 is half as fast, so float32 cannot reach bfloat16's peak.
    single = estimate_step(Work({"float32": 1e12}, 0.0, ()), H100, (8,))
    assert single.mfu == pytest.approx(0.5)


def test_several_steps_in_one_program() -> None:
    looped = of(times=10.0)
    found = estimate_step(Work({}, 0.0, (looped,), steps=10), V5E, (16, 16))
    assert found.exposed_seconds == pytest.approx(collective_seconds(REDUCE, V5E, (16, 16)))


def test_assumptions_name_their_figures() -> None:
    text = " ".join(estimate_step(Work({"float32": 1.0}, 1.0, ()), V5E, (16, 16), 2).assumptions)
    for figure in ("197 TFLOP/s", "819 GB/s", "45.0 GB/s", "180 GB/s", "3.12 GB/s", "bfloat16"):
        assert figure in text
    assert "TF32" in " ".join(
        estimate_step(Work({"float32": 1.0}, 1.0, ()), H100, (8,)).assumptions
    )
