"""The recording: results of TensorFlow, by scenario and setting (`scenario@setting`) and case."""

import functools
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
NAMES = DATA / "names.json"
ESTIMATORS = DATA / "estimators"  # of another TensorFlow: see tests.golden.estimators


@functools.cache
def load(data: Path = DATA) -> dict[str, dict[str, Any]]:
    """Reads all results of a folder."""
    return {
        run: cases
        for path in sorted(data.glob("*.json"))
        if path != NAMES
        for run, cases in json.loads(path.read_text()).items()
    }


@functools.cache
def names() -> dict[str, dict[str, Any]]:
    """Reads the names of tf.distribute, by module; and TensorFlow's version, as `tf`."""
    return json.loads(NAMES.read_text())


def write(path: Path, recorded: dict[str, Any]) -> None:
    """Writes results, one case a line."""
    groups = []
    for key in sorted(recorded):
        lines = [f"  {json.dumps(case)}: {json.dumps(v)}" for case, v in recorded[key].items()]
        groups.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }")
    path.write_text("{\n" + ",\n".join(groups) + "\n}\n")
