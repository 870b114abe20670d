"""What is logged about placements."""

import logging

import numpy as np
import pytest

import spmd
from spmd.topology import layout_of, log_placements, logs_placements, place


@pytest.fixture(autouse=True)
def _quiet_afterwards():
    yield
    log_placements(False)


def test_batches_and_variables(capsys, monkeypatch):
    log_placements(True)
    handler = logging.getLogger("spmd.placement").handlers[-1]
    lines: list[str] = []
    monkeypatch.setattr(handler, "emit", lambda record: lines.append(record.getMessage()))
    mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
    weight = spmd.Variable(np.ones(3, np.float32))

    def train(x):
        weight.value = weight.value + spmd.all_reduce(x.sum())

    for batch in spmd.distribute(np.ones((4, 3), np.float32), mesh, batch_size=4):
        spmd.Step(train, mesh)(batch)
    devices = "on each of 2 device(s) (cpu:0, cpu:1)"
    assert f"array: float32[4, 3], [2, 3] of it {devices}" in lines
    assert any(
        line.startswith("weight") and line.endswith(f"for train: float32[3], all of it {devices}")
        for line in lines
    )


def test_many_devices_are_abbreviated(caplog):
    log_placements(True)
    logging.getLogger("spmd.placement").propagate = True
    place(np.ones(8), layout_of(spmd.make_mesh()).rows)
    assert caplog.messages[-1].endswith(
        "[1] of it on each of 8 device(s) (cpu:0, cpu:1, ..., cpu:7)"
    )


def test_it_ends():
    log_placements(True)
    log_placements(True)
    assert logs_placements()
    assert len(logging.getLogger("spmd.placement").handlers) == 1
    log_placements(False)
    assert not logs_placements()
    assert logging.getLogger("spmd.placement").handlers == []
