"""The ways to all-reduce: accepted, checked, and without influence on results."""

from typing import Any

import pytest

from frontends import tf

D = tf.distribute
OPS = [
    None,
    D.NcclAllReduce(),
    D.NcclAllReduce(num_packs=0),
    D.HierarchicalCopyAllReduce(num_packs=2),
    D.ReductionToOneDevice(),
    D.ReductionToOneDevice(reduce_to_device="/cpu:0"),
]


@pytest.mark.parametrize("ops", OPS)
def test_results_do_not_depend_on_it(ops):
    strategy = D.MirroredStrategy(["cpu:0", "cpu:1"], cross_device_ops=ops)

    def replica():
        context: Any = D.get_replica_context()
        mine = context.replica_id_in_sync_group + 1.0
        return mine, context.all_reduce("SUM", mine)

    mine, total = strategy.run(replica)
    assert float(strategy.reduce("SUM", mine, axis=None)) == 3.0
    assert [float(value) for value in total.values] == [3.0, 3.0]


@pytest.mark.parametrize("make", [D.NcclAllReduce, D.HierarchicalCopyAllReduce])
def test_packs_are_not_negative(make):
    with pytest.raises(ValueError, match="num_packs"):
        make(num_packs=-1)
    assert issubclass(make, D.CrossDeviceOps)


def test_another_accumulation_is_refused_rather_than_ignored():
    """It would change results: TensorFlow adds with it, and XLA sums."""
    other: Any = max
    with pytest.raises((ValueError, TypeError), match="accumulation_fn"):
        D.ReductionToOneDevice(accumulation_fn=other)


@pytest.mark.parametrize("ops", ["nccl", D.NcclAllReduce, 1])
def test_anything_else_is_refused(ops):
    with pytest.raises(TypeError, match="cross_device_ops"):
        D.MirroredStrategy(["cpu:0"], cross_device_ops=ops)
