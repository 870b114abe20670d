"""The examples of docs/preemption.md run as they are, and save nothing if nobody ends them."""

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[4] / "docs" / "preemption.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=["loop", "fit"])
def test_examples_run(run_python, tmp_path, example):
    script = tmp_path / "script.py"
    script.write_text(example)
    run_python(script, cwd=tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["script.py"]
