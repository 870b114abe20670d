"""Feeds odd input to all that reads input from outside, and sees that it is taken or refused, and nothing else.

    python -m tests.benchmarks fuzz

10,000 mutated manifests of checkpoints, 10,000 messages between processes, 10,000 values of TF_CONFIG and 2,000 command
lines of `jaxtribute launch`: none may end in another error than the one that says what to write, take long, or touch a file
outside of its folder. The seed makes a case repeatable: `--only manifests --case 17` runs one.
"""

import argparse
import faulthandler
import logging
import random
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import jax
from rich.console import Console
from rich.table import Table

from tests.benchmarks.fuzz.command_lines import CommandLines
from tests.benchmarks.fuzz.manifests import Manifests
from tests.benchmarks.fuzz.messages import Messages
from tests.benchmarks.fuzz.tf_configs import TFConfigs

_SHOWN = 10  # failures of a subject that are shown
_HANG_SECONDS = 120.0
_SLOW_SECONDS = 60.0  # a busy machine included


class Subject(Protocol):
    """What is fed."""

    def attempt(self, chance: random.Random) -> str:
        """Feeds one; returns "accepted" or "refused", or what is wrong."""
        ...

    def close(self) -> None:
        """Checks at the end that nothing has changed, and cleans up."""
        ...


SUBJECTS = {
    "manifests": (Manifests, 10_000),
    "messages": (Messages, 10_000),
    "tf_configs": (TFConfigs, 10_000),
    "command_lines": (CommandLines, 2_000),
}


class Result:
    """What became of the cases of a subject."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []
        self.seconds = self.slowest = 0.0


def feed(
    name: str,
    cases: Sequence[int],
    seed: int,
    folder: Path,
    begin: Callable[[], None] = lambda: None,
) -> Result:
    """Runs some cases of a subject.

    Args:
        name: that of the subject.
        cases: numbers of the cases; each of them is always the same, for a seed.
        seed: another one gives other cases.
        folder: an empty one, to write into.
        begin: called before each case.
    """
    result, began = Result(), time.monotonic()

    def note_thread(ended: threading.ExceptHookArgs) -> None:
        text = "".join(traceback.format_exception(ended.exc_value or ended.exc_type()))
        result.failures.append(f"{name}, thread {ended.thread and ended.thread.name}: {text}")

    before, threading.excepthook = threading.excepthook, note_thread
    subject: Subject = SUBJECTS[name][0](folder)
    try:
        for case in cases:
            begin()
            at = time.monotonic()
            try:
                outcome = subject.attempt(random.Random(f"{seed} {name} {case}"))
            except BaseException as error:
                outcome = "failed"
                text = "".join(traceback.format_exception(error))
                result.failures.append(f"{name}, case {case}: {text}")
            seconds = time.monotonic() - at
            if outcome not in ("accepted", "refused", "failed") or seconds > _SLOW_SECONDS:
                result.failures.append(f"{name}, case {case}: {outcome}, {seconds:.1f} s")
            result.outcomes[outcome] += 1
            result.slowest = max(result.slowest, seconds)
    finally:
        begin()
        try:
            subject.close()
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            result.failures.append(f"{name}, in the end: {text}")
        threading.excepthook = before
    result.seconds = time.monotonic() - began
    return result


def _end_what_hangs() -> None:
    faulthandler.dump_traceback_later(_HANG_SECONDS, exit=True)


def main(words: Sequence[str]) -> int:
    """Runs all cases; returns 0 if none failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=[*SUBJECTS])
    parser.add_argument("--cases", type=int, help="how many, instead of all")
    parser.add_argument("--case", type=int, help="the number of a single one")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    jax.config.update("jax_platforms", "cpu")
    logging.disable()  # of values without an object, thousands of times
    try:
        return _run(options)
    finally:
        logging.disable(logging.NOTSET)


def _run(options: argparse.Namespace) -> int:
    table = Table("what", "cases", "accepted", "refused", "failed", "slowest", "seconds")
    failures: list[str] = []
    for name in [options.only] if options.only else SUBJECTS:
        cases = range(options.cases or SUBJECTS[name][1])
        with tempfile.TemporaryDirectory() as folder:
            one = [options.case] if options.case is not None else cases
            result = feed(name, one, options.seed, Path(folder), _end_what_hangs)
        for text in result.failures[:_SHOWN]:
            print(text if len(text) < 2000 else f"{text[:500]} ... {text[-1500:]}", flush=True)
        failures += result.failures
        count = result.outcomes
        table.add_row(
            *(name, str(count.total()), str(count["accepted"]), str(count["refused"])),
            *(str(len(result.failures)), f"{result.slowest:.2f} s", f"{result.seconds:.0f}"),
        )
    faulthandler.cancel_dump_traceback_later()
    console = Console(width=120)
    console.print(table)
    console.print(f"{len(failures)} failures, of seed {options.seed}.")
    return int(bool(failures))
