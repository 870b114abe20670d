"""Plans from Python."""

import pytest

import spmd.plan
from spmd.errors import PlanError
from tests.spmd.plan.test_process import MLP


def test_a_sweep_compiles_for_each_topology() -> None:
    found = spmd.plan.plan(f"{MLP}:make", "cpu:2", sweep=["cpu:2", "cpu:4"])
    assert (found.topology, found.devices, found.global_batch) == ("cpu:2", 2, 128)


def test_an_unknown_topology_starts_nothing() -> None:
    with pytest.raises(PlanError, match="no chip is called 'v7'"):
        spmd.plan.plan(MLP, "v7:2x2")
