"""Facts that `jaxtribute check` needs, and that are not read from the front end while it runs.

    python -m tests.check_facts           # writes them
    python -m tests.check_facts --check   # fails if they are not up to date

`frontends/tf/check/keras_names.json` holds the names of `tf.keras`, so that the command does not import Keras, and
`frontends/tf/check/differences.json` what tests/golden states about names: `notes.toml`, and those rows of `differences.toml`
that say which uses they concern.
"""

import inspect
import json
import sys
import tomllib
import types
from importlib import metadata
from pathlib import Path
from typing import Any

from frontends import tf
from frontends.tf.check import stored
from frontends.tf.keras import _added
from tests.golden import differences

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "frontends" / "tf" / "check"
NOTES = ROOT / "tests" / "golden" / "notes.toml"

# Modules of `tf` whose lookup imports Keras.
_TOP = ("keras", "initializers", "losses", "metrics", "optimizers")


def keras_names() -> dict[str, Any]:
    """Lists the names of `tf.keras`, by module, and the members of its classes."""
    modules: dict[str, types.ModuleType] = {}
    for name in _TOP:
        _walk(f"tf.{name}", getattr(tf, name), modules)
    found: dict[str, Any] = {}
    classes: dict[str, Any] = {}
    for path, module in modules.items():
        kinds: dict[str, Any] = {"classes": {}, "function": [], "module": [], "value": []}
        for name in sorted(dir(module)):
            if name.startswith("_"):
                continue
            value = getattr(module, name)
            if isinstance(value, types.ModuleType):
                kinds["module"].append(name)
            elif inspect.isclass(value):
                kinds["classes"][name] = _add_class(value, classes)
            else:
                kinds["function" if callable(value) else "value"].append(name)
        found[path] = kinds
    return {
        "version": metadata.version("keras"),
        "hints": dict(sorted(_added.HINTS.items())),
        "same": {
            path: module.__name__
            for path, module in sorted(modules.items())
            if module.__name__ != f"frontends.{path}"
        },
        "modules": dict(sorted(found.items())),
        "classes": dict(sorted(classes.items())),
    }


def _walk(path: str, module: types.ModuleType, modules: dict[str, types.ModuleType]) -> None:
    modules[path] = module
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and isinstance(value, types.ModuleType):
            _walk(f"{path}.{name}", value, modules)


def _add_class(cls: type, classes: dict[str, Any]) -> str:
    name = f"{cls.__module__}.{cls.__qualname__}"
    if name not in classes:
        classes[name] = None  # a class may be met again among its own bases' names
        members = {*vars(cls), *stored.own_attributes(cls)}
        classes[name] = {
            "bases": [_add_class(base, classes) for base in cls.__bases__ if base is not object],
            "members": sorted(one for one in members if not one.startswith("_")),
        }
        if "__getattr__" in vars(cls):
            classes[name]["more"] = True
    return name


def stated_differences() -> dict[str, Any]:
    """Gathers what tests/golden states about names."""
    return {
        "notes": tomllib.loads(NOTES.read_text())["notes"],
        "differences": [
            {"uses": list(one.uses), "title": one.title, "ours": one.ours, "why": one.why}
            for one in differences.load()
            if one.uses
        ],
    }


FILES = {"keras_names.json": keras_names, "differences.json": stated_differences}


def text(facts: dict[str, Any]) -> str:
    """Writes facts, a name on a line, so that changes merge."""
    return json.dumps(facts, indent=0, ensure_ascii=False) + "\n"


def main(words: list[str]) -> int:
    """Writes the facts, or checks them."""
    made = {FOLDER / name: text(make()) for name, make in FILES.items()}
    if words == ["--check"]:
        return int(any(path.read_text() != facts for path, facts in made.items()))
    for path, facts in made.items():
        path.write_text(facts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
