"""What travels, in compiled programs of TPUs, GPUs and processors."""

import pytest

from spmd.plan.collectives import find_collectives, ring_traffic
from spmd.plan.hlo import parse_hlo
from tests.spmd.plan.programs import program_of, text_of


def found(name: str, devices: int, **options):
    return find_collectives(program_of(name), devices, **options)


@pytest.mark.parametrize(
    ("platform", "devices", "itemsize"), [("tpu", 4, 2), ("gpu", 8, 2), ("cpu", 4, 4)]
)
def test_data_parallel_sends_twice_its_parameters(platform, devices, itemsize) -> None:
    collectives = found(f"{platform}_many", devices)
    parameters = 2 * 128 * 128 * itemsize  # a processor sums bfloat16 as float32
    sent = sum(each.times * each.traffic for each in collectives) / 5
    assert sent == pytest.approx(2 * (devices - 1) / devices * parameters, rel=0.001)
    gradients = max(collectives, key=lambda each: each.payload)
    assert (gradients.kind, gradients.group_size, gradients.groups) == ("all-reduce", devices, 1)
    assert gradients.times == 5
    assert gradients.times_known


def test_gathered_parameters() -> None:
    gathered, scattered, reduced = found("gpu_fsdp", 8)
    parameters = 2 * 128 * 128 * 2
    assert (gathered.kind, gathered.payload, gathered.arrays) == ("all-gather", parameters, 2)
    assert (scattered.kind, scattered.payload) == ("reduce-scatter", parameters)
    assert gathered.traffic == scattered.traffic == 7 / 8 * parameters
    assert (reduced.kind, reduced.payload) == ("all-reduce", 2)


def test_overlap() -> None:
    gathered, scattered, _ = found("gpu_fsdp", 8)
    assert not gathered.is_async  # XLA marked it as synchronous
    assert scattered.is_async
    assert scattered.overlapped
    (at_once,) = found("tpu_many", 4)
    assert not at_once.is_async
    assert not at_once.overlapped


def test_a_tpus_transfer_is_counted_once_however_many_kernels_it_spans() -> None:
    collectives = found("tpu_fsdp", 16)
    gathers = [each for each in collectives if each.kind == "all-gather"]
    assert len(gathers) == 4  # one for each layer
    assert {each.payload for each in gathers} == {2 * 1024**2}
    assert [each.overlapped for each in gathers].count(True) == 1
    assert text_of("tpu_fsdp").count(" all-gather(") > len(gathers)


def test_a_start_that_is_waited_for_at_once_overlaps_nothing() -> None:
    text = """HloModule m, is_scheduled=true

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %all-reduce-start = f32[8]{0} all-reduce-start(%p), replica_groups={{0,1},{2,3}}, to_apply=%add
  BETWEEN
  %all-reduce-done = f32[8]{0} all-reduce-done(%all-reduce-start)
  ROOT %twice = f32[8]{0} add(%all-reduce-done, %all-reduce-done)
}
"""
    idle = "%b = f32[8]{0} bitcast(%p)"
    (waited,) = find_collectives(parse_hlo(text.replace("BETWEEN", idle)), 4)
    assert waited.is_async
    assert not waited.overlapped
    busy = "%b = f32[8]{0} fusion(%p), kind=kLoop, calls=%none"
    program = (
        text.replace("BETWEEN", busy)
        + "\n%none (q: f32[8]) -> f32[8] {\n  ROOT %q = f32[8]{0} parameter(0)\n}\n"
    )
    (beside,) = find_collectives(parse_hlo(program), 4)
    assert beside.is_async
    assert beside.overlapped
    assert (beside.group_size, beside.groups) == (2, 2)


def test_other_kinds() -> None:
    permuted, exchanged, summed = found("cpu_permute", 4)
    rows = 128 * 128 * 4  # of one device
    assert (permuted.kind, permuted.traffic, permuted.group_size) == ("collective-permute", rows, 4)
    assert (exchanged.kind, exchanged.payload, exchanged.traffic) == (
        "all-to-all",
        rows,
        0.75 * rows,
    )
    assert (summed.dtype, summed.payload) == ("f64", 8)


@pytest.mark.parametrize(
    ("groups", "slices", "size", "count", "across"),
    [
        ("{{0,1,2,3,4,5,6,7}}", 2, 8, 1, True),
        ("{{0,1,2,3},{4,5,6,7}}", 2, 4, 2, False),
        ("{{0,4},{1,5},{2,6},{3,7}}", 2, 2, 4, True),
        ("{}", 1, 8, 1, False),
        ("[1,8]<=[8]", 1, 8, 1, False),
        ("[2,4]<=[8]", 2, 4, 2, False),
        ("[4,2]<=[2,4]T(1,0)", 2, 2, 4, True),
    ],
)
def test_groups(groups, slices, size, count, across) -> None:
    text = text_of("cpu_many").replace("replica_groups={{0,1,2,3}}", f"replica_groups={groups}")
    (collective,) = find_collectives(parse_hlo(text), 8, slices)
    assert (collective.group_size, collective.groups) == (size, count)
    assert collective.across_slices is across


def test_a_group_of_one_sends_nothing() -> None:
    assert {
        ring_traffic(kind, 10, 1) for kind in ("all-reduce", "all-gather", "collective-permute")
    } == {0}
