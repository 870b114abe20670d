"""Makes docs/compat.md: which names of tf.distribute work, and how results differ.

    python -m tests.golden.compat           writes the page
    python -m tests.golden.compat --check   fails if it is not up to date

The names are TensorFlow's own (`data/names.json`). A name works if ours has it; how it differs stands in
`notes.toml`; the differences of results, and their reasons, stand in `differences.toml`, where the golden
tests keep them true.
"""

import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from frontends import tf
from frontends.tf._names import PLANNED
from tests.golden import differences, recording
from tests.golden.compare import is_error, is_numeric
from tests.golden.scenarios import SCENARIOS

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "compat.md"
_INTRODUCTION = """\
# What of tf.distribute works

<!-- Made by `python -m tests.golden.compat`: do not edit. -->

`from frontends import tf` stands for TensorFlow {version}. This page lists every public name of
`tf.distribute`, then every result that is known to differ, with the reason.

The second part is held true by tests: {cases} results, recorded from TensorFlow {version} on one, two and four
devices, are computed anew. Of the {results} where TensorFlow gives a result, {percent} % are the same here. With those where
it raises an error, {same} ({percent_of_all} %) of all are the same; {different} differ, all of them as stated below:

| results | |
|---|---|
| {works} | TensorFlow raises an error, and here there is a result |
| {other} | both give a result, and not the same |
| {refused} | TensorFlow gives a result, and here there is an error that says why not |
| {errors} | both raise an error, of different classes |

Of the {numeric} that hold numbers, {numeric_different} differ. Left out is training on several machines.

Some differences are everywhere, and not listed each time:

- A value for each replica stays one, a `DistributedValues`, if there is only one replica; TensorFlow then
  gives the tensor itself. If all replicas have the same value, either may stand for the other.
- 64-bit types have 32 bits, unless `jax.config.update("jax_enable_x64", True)` allows 64.
- Operands of different types (`tf.constant(1.0) + tf.constant(1)`) are promoted by JAX's rules, where
  TensorFlow raises an `InvalidArgumentError`.
- Keras is Keras 3, and where TensorFlow's own Keras 2 and 3 differ under a strategy, the rule that gives what one
  replica gives holds: moving averages of BatchNormalization are averaged over the replicas, and a metric read in a
  replica is that of all, as with Keras 2 (with Keras 3, TensorFlow takes the first replica's, and the replica's own).
- A function that `run` or `tf.function` calls is traced, so its Python code runs once for all replicas,
  not once for each of them, and results are arrays, where TensorFlow's eager code passes Python numbers on.
- In a replica a partial batch has the shape of a full one, and a mask, as long as that changes no result: what
  averages over rows leaves padding out. Where padding would count, as in sums over rows and in
  `tf.shape(batch)[0]`, the step is compiled once more, for the rows that each replica has: the numbers are
  TensorFlow's. `step.explain()`, of a `tf.function`, tells which program ran.
- Variables have one value, kept equal on all devices; TensorFlow keeps a component for each.
- An exception may be of another class that the same `except` catches: `ValueError` for
  `tf.errors.InvalidArgumentError`, `IndexError` for `tf.errors.OutOfRangeError`. `tf.errors.ResourceExhaustedError`,
  `InternalError` and `UnknownError` are one class, `jax.errors.JaxRuntimeError`, whose text begins with the kind, so that
  `except` of one of them catches the others, too. `tf.errors.OpError` is a tuple of classes, which cannot be raised.
"""


def status(full: str, notes: dict[str, str]) -> tuple[str, str]:
    """Tells how a name stands: works, differs, not yet or never; and how it differs."""
    owner: Any = tf
    for part in full.split(".")[1:]:
        try:
            owner = getattr(owner, part)
        except AttributeError:
            if any(
                part in getattr(one, "__annotations__", {}) for one in getattr(owner, "__mro__", ())
            ):
                break  # an attribute of instances
            return ("never", notes[full]) if full in notes else ("not yet", "")
    return ("differs", notes[full]) if full in notes else ("works", "")


def names() -> dict[str, list[str]]:
    """Lists the names of each module, and after each class those of its members that matter."""
    found: dict[str, list[str]] = {}
    for module, contents in recording.names().items():
        if module == "tf":
            continue
        found[module] = []
        for name, members in contents.items():
            full = f"{module}.{name}"
            found[module].append(full)
            if isinstance(members, list) and full not in PLANNED and full not in _SAME_MEMBERS:
                found[module].extend(f"{full}.{member}" for member in members)
    return found


# How a result differs: whether TensorFlow raises an error, and whether ours does.
_KINDS = {
    (True, False): "works",
    (False, False): "other",
    (False, True): "refused",
    (True, True): "errors",
}
# Their members are those of tf.distribute.Strategy and of tf.distribute.CrossDeviceOps.
_SAME_MEMBERS = {
    "tf.distribute.MirroredStrategy",
    "tf.distribute.OneDeviceStrategy",
    "tf.distribute.experimental.CentralStorageStrategy",
    "tf.distribute.NcclAllReduce",
    "tf.distribute.HierarchicalCopyAllReduce",
    "tf.distribute.ReductionToOneDevice",
}


def page() -> str:
    """Makes the page."""
    stated = differences.load()
    version = recording.names()["tf"]["version"]
    notes = tomllib.loads((HERE / "notes.toml").read_text())["notes"]
    counts: Counter[str] = Counter()
    by_title: Counter[str] = Counter()
    for run, cases in recording.load().items():
        if run.partition("@")[0] not in SCENARIOS:
            continue  # recorded, but not compared yet
        for case, result in cases.items():
            found = differences.find(stated, f"{run}/{case}")
            kinds = ["cases", "different" if found else "same"]
            kinds += [] if is_error(result) else ["given"]
            if is_numeric(result):
                kinds += ["numeric", *(["numeric_different"] if found else [])]
            counts.update(kinds)
            if found:
                by_title[found.title] += 1
                counts[_KINDS[is_error(result), found.error is not None]] += 1
    numbers: dict[str, Any] = {kind: counts[kind] for kind in _KINDS.values()} | counts
    differing = counts["other"] + counts["refused"]
    results = counts["given"]
    numbers |= {
        "version": version,
        "results": results,
        "percent": _percent(results - differing, results),
        "percent_of_all": _percent(counts["same"], counts["cases"]),
    }
    lines = [_INTRODUCTION.format(**numbers), "## Names\n"]
    for module, members in names().items():
        if module in PLANNED or any(module.startswith(f"{name}.") for name in PLANNED):
            continue
        lines += [f"### {module}\n", "| name | | |", "|---|---|---|"]
        for full in members:
            state, note = status(full, notes)
            lines.append(f"| `{full.removeprefix(module + '.')}` | {state} | {note} |")
        lines.append("")
    lines.append("## Results that differ\n")
    for topic in dict.fromkeys(one.topic for one in stated):
        lines += [f"### {topic}\n", "| what | here | why | results |", "|---|---|---|---|"]
        for one in stated:
            if one.topic == topic:
                lines.append(f"| {one.title} | {one.ours} | {one.why} | {by_title[one.title]} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _percent(part: int, whole: int) -> str:
    """Writes a share in percent, rounded down."""
    return f"{part * 1000 // whole / 10:.1f}"


def main(words: list[str]) -> int:
    """Writes the page, or checks it."""
    made = page()
    if words == ["--check"]:
        return int(not PAGE.exists() or PAGE.read_text() != made)
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
