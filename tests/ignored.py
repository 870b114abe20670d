"""Parameters of the front end that are accepted without effect: what docs/ignored.md lists.

    python -m tests.ignored           # writes the page, and what `jaxtribute check` knows (tests/check_facts.py)

The page lists what a function never reads, under the names by which scripts reach the function. `name`, which nearly
all ignore, is left out.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from frontends.tf.check.accepted import ACCEPTED
from frontends.tf.check.unread import unread_parameters
from tests import check_facts

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ignored.md"

NAMESPACES = (
    *("tf", "tf.math", "tf.linalg", "tf.nn", "tf.random", "tf.image", "tf.debugging", "tf.nest"),
    *("tf.dtypes", "tf.autograph", "tf.config", "tf.config.experimental", "tf.config.optimizer"),
    *("tf.config.threading", "tf.test", "tf.xla.experimental", "tf.profiler.experimental"),
    "tf.distribute",
    *("tf.distribute.experimental", "tf.distribute.cluster_resolver", "tf.data"),
    *(
        "tf.data.experimental",
        "tf.train",
        "tf.compat.v1.train",
        "tf.saved_model",
        "tf.summary",
        "tf.summary.experimental",
    ),
    *("tf.io", "tf.io.gfile", "tf.sparse", "tf.keras"),
    *("tf.strings", "tf.ragged", "tf.lookup", "tf.lookup.experimental", "tf.sets"),
    *("tf.estimator", "tf.estimator.tpu", "tf.contrib.data", "tf.contrib.distribute"),
    *("tf.contrib.framework", "tf.contrib.layers", "tf.contrib.lookup", "tf.contrib.summary"),
    *("tf.contrib.tpu", "tf.contrib.training"),
)

HEAD = """# Parameters without effect

<!-- Written by `python -m tests.ignored`. -->

The front end takes every parameter that TensorFlow takes, so that scripts run as they are. Those on this page
change nothing, because there is nothing to change: XLA chooses algorithms and memory, programs have no
sessions, shapes are always known, and arrays are placed by the strategy.

`name=` is accepted by all functions and shown in messages by a few (`tf.Variable`, metrics, optimizers).

Options that are accepted as a whole:

| options | because |
|---|---|
"""


def ignored_parameters() -> dict[str, tuple[str, ...]]:
    """Lists what functions of the front end accept and never read, by TensorFlow's name."""
    found: dict[str, tuple[str, ...]] = {}
    seen = set[object]()
    for name, function in _functions():
        if function in seen:
            continue
        seen.add(function)
        unread = unread_parameters(function)
        if unread:
            found[name] = unread
    return found


def page(found: dict[str, tuple[str, ...]]) -> str:
    """Returns the text of the page."""
    lines = [HEAD + "".join(f"| {one} | {one.because} |\n" for one in ACCEPTED)]
    for namespace, rows in _by_namespace(found).items():
        lines += [f"## {namespace}\n", "| function | ignored |", "|---|---|"]
        lines += [f"| `{name}` | {', '.join(f'`{p}`' for p in rows[name])} |" for name in rows]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _by_namespace(found: dict[str, tuple[str, ...]]) -> dict[str, dict[str, tuple[str, ...]]]:
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in sorted(found):
        home = max((n for n in NAMESPACES if name.startswith(f"{n}.")), key=len)
        groups.setdefault(home, {})[name.removeprefix(f"{home}.")] = found[name]
    return groups


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Lists all functions and methods of the front end that scripts can name, base classes first."""
    classes: list[tuple[str, type]] = []
    for namespace in NAMESPACES:
        module = importlib.import_module(f"frontends.{namespace}") if "." in namespace else None
        module = module or importlib.import_module("frontends.tf")
        for name in sorted(dir(module)):
            value = None if name.startswith("_") else getattr(module, name)
            if isinstance(value, type) and _is_ours(value):
                classes.append((f"{namespace}.{name}", value))
            elif inspect.isfunction(value) and _is_ours(value):
                yield f"{namespace}.{name}", value
    for full, each in sorted(classes, key=lambda pair: len(pair[1].__mro__)):
        for base in each.__mro__:
            concrete = _is_ours(base) and Protocol not in base.__bases__
            for name, value in vars(base).items() if concrete else ():
                method = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                if inspect.isfunction(method) and (name == "__init__" or name[0] != "_"):
                    yield (full if name == "__init__" else f"{full}.{name}"), method


def _is_ours(value: Any) -> bool:
    return not isinstance(value, ModuleType) and (value.__module__ or "").startswith("frontends.")


if __name__ == "__main__":
    PAGE.write_text(page(ignored_parameters()))
    check_facts.main([])
