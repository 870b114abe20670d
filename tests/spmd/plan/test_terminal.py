"""Plans in terminals."""

import io

from rich.console import Console

from spmd.plan.facts import Memory
from spmd.plan.report import make_plan
from spmd.plan.terminal import print_plan
from tests.spmd.plan.programs import facts_of


def printed(facts, *, terminal: bool = False) -> str:
    file = io.StringIO()
    print_plan(make_plan(facts), Console(file=file, width=80, force_terminal=terminal))
    return file.getvalue()


def test_all_that_was_asked_is_there() -> None:
    text = printed(facts_of())
    for part in (
        *("train on v5e:2x2", "4 x TPU v5e", "128 rows for each of 4 replicas", "fits"),
        *("parameters", "temporaries", "16.0 GiB", "Largest batch", "interconnect, waited for"),
        *("all-reduce x 5", "64.0 KiB", "train.py:22", "v5e:16x16", "ok", "a <note>"),
        *("XLA's figures", "our estimate", "197 TFLOP/s"),
    ):
        assert part in text, part


def test_plain_text_of_80_columns_when_piped() -> None:
    text = printed(facts_of())
    assert "\x1b" not in text
    assert all(len(line) <= 80 and line == line.rstrip() for line in text.splitlines())
    assert "\x1b" in printed(facts_of(), terminal=True)


def test_names_are_not_markup() -> None:
    assert "[red]" in printed(facts_of(name="[red]train"))


def test_what_does_not_fit_is_said() -> None:
    text = printed(facts_of(memory=Memory(10 * 2**30, 0, 0, 10 * 2**30, 0)))
    assert "does NOT fit" in text
    assert "20.0 GiB!" in text


def test_without_times_batch_and_collectives() -> None:
    hlo = "HloModule m\n\nENTRY %main (p: f32[4]) -> f32[4] {\n  ROOT %p = f32[4]{0} parameter(0)\n}\n"
    facts = facts_of(topology="cpu:4", chip="cpu", global_batch=None, hlo=hlo, compiler_cost={})
    text = printed(facts)
    assert "nothing travels" in text
    assert "at least" not in text
