"""What the terminal and the page say."""

import os

from spmd.plan.facts import Memory
from spmd.plan.report import make_plan
from spmd.plan.wording import group_text, headline, short_line, time_parts
from tests.spmd.plan.programs import facts_of


def test_the_headline_says_what_matters() -> None:
    hardware, memory, time = headline(make_plan(facts_of()))
    assert hardware == "4 x TPU v5e, a batch of 512: 128 rows for each of 4 replicas."
    assert "It fits" in memory
    assert "XLA took 1.50 s" in memory
    assert "at least" in time
    assert "our estimate" in time
    assert "MFU at most" in time


def test_the_headline_of_what_does_not_fit_and_of_unknown_chips() -> None:
    too_large = facts_of(memory=Memory(10 * 2**30, 0, 0, 10 * 2**30, 0), global_batch=500)
    hardware, memory, _ = headline(make_plan(too_large))
    assert "500, padded to 512" in hardware
    assert "does NOT fit: 20.0 GiB of 16.0 GiB" in memory
    unknown = make_plan(facts_of(topology="cpu:4", chip="cpu"))
    assert len(list(headline(unknown))) == 2
    assert time_parts(unknown) == []


def test_groups_and_lines() -> None:
    plan = make_plan(facts_of())
    assert group_text(plan.collectives[0]) == "4"
    assert short_line(os.path.join(os.getcwd(), "train.py:3")) == "train.py:3"
    assert short_line(f"near {os.getcwd()}/train.py:3") == "near train.py:3"
