"""Records what real TensorFlow computes: `make golden`, or `python -m tests.golden.record [WORDS]`.

Runs in an environment with TensorFlow, on logical CPUs; words choose runs by a part of
`scenario@setting`. TensorFlow is imported once and a process is forked for each run, or for each case
where a failed collective would poison the next one. Also records the names of tf.distribute.
"""

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tests.golden.encoding import encode, outcome
from tests.golden.recording import DATA, NAMES, write
from tests.golden.scenarios import SCENARIOS, Scenario, Setting
from tests.golden.scenarios.base import replicas

_SECONDS = 600


def main(words: list[str]) -> None:
    """Records the runs whose name contains one of the words, or all."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    tf = import_tensorflow()
    record(tf, SCENARIOS, DATA, words)
    if not NAMES.exists() or not words:
        names = {"tf": {"version": tf.__version__}} | _public(tf)
        write(NAMES, names)


def import_tensorflow() -> Any:
    """Imports TensorFlow, without accelerators."""
    os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")
    import tensorflow as tf

    return tf


def record(tf: Any, scenarios: dict[str, Scenario], data: Path, words: list[str]) -> None:
    """Records scenarios in files of a folder, beside what is recorded there.

    Args:
        tf: TensorFlow.
        scenarios: by name.
        data: the folder.
        words: chooses the runs whose name contains one of them; empty, all.
    """
    recorded: dict[str, dict[str, Any]] = {}
    for path in data.glob("*.json"):
        if path != NAMES:
            recorded[path.stem] = json.loads(path.read_text())
    for scenario in scenarios.values():
        for setting in scenario.settings:
            name = f"{scenario.name}@{setting}"
            if words and not any(word in name for word in words):
                continue
            print(name, file=sys.stderr)
            if scenario.fresh:
                found = {}
                for case in _forked(partial(_names, tf, scenario, setting)):
                    found |= _forked(partial(_cases, tf, scenario, setting, case), case)
            else:
                found = _forked(partial(_cases, tf, scenario, setting))
            recorded.setdefault(scenario.group, {})[name] = found
            write(data / f"{scenario.group}.json", recorded[scenario.group])


def _setting(tf: Any, name: str) -> Setting:
    cpu = tf.config.list_physical_devices("CPU")[0]
    count = 2 if name == "none" else replicas(name)
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
    )
    return Setting(tf, name)


def _names(tf: Any, scenario: Any, setting: str) -> list[str]:
    return [name for name, _ in scenario.cases(_setting(tf, setting))]


def _cases(tf: Any, scenario: Any, setting: str, only: str | None = None) -> dict[str, Any]:
    made = _setting(tf, setting)
    found = {}
    for name, thunk in scenario.cases(made):
        if only in (None, name):
            found[name] = encode(outcome(thunk), tf)
    return found


def _forked(function: Any, case: str | None = None) -> Any:
    """Calls a function in a process of its own."""
    read, write_ = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(_SECONDS)
        try:
            text = json.dumps(function())
        except BaseException as error:
            text = json.dumps({"failed": f"{type(error).__name__}: {error}"})
        with os.fdopen(write_, "w") as stream:
            stream.write(text)
        os._exit(0)
    os.close(write_)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    result = json.loads(text) if text else {"failed": f"no answer within {_SECONDS} s"}
    if isinstance(result, dict) and "failed" in result:
        if case is None:
            raise RuntimeError(result["failed"])
        return {case: {"error": "Crashed", "message": result["failed"], "bases": []}}
    return result


def _public(tf: Any) -> dict[str, dict[str, Any]]:
    """Lists the names of tf.distribute, and the members of its classes."""
    found: dict[str, dict[str, Any]] = {}

    def walk(module: Any, prefix: str) -> None:
        found[prefix] = {}
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if name.startswith("_"):
                continue
            if isinstance(value, type):
                members = [one for one in dir(value) if not one.startswith("_")]
                own = [one for one in members if not hasattr(tuple, one)]
                found[prefix][name] = own if issubclass(value, tuple) else members
            elif hasattr(value, "__path__"):
                found[prefix][name] = "module"
                walk(value, f"{prefix}.{name}")
            else:
                found[prefix][name] = "function"

    walk(tf.distribute, "tf.distribute")
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
