"""The examples of docs/checkpoints.md run as they are, and again: what was saved is restored."""

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "checkpoints.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
LEFT = {"run": ["checkpoint", "ckpt-11", "ckpt-12", "ckpt-13"], "jax_run": ["step-10", "step-20"]}


@pytest.mark.slow
@pytest.mark.parametrize(("example", "folder"), list(zip(EXAMPLES, LEFT, strict=True)))
def test_examples_run_and_go_on(run_python, tmp_path, example, folder):
    script = tmp_path / "script.py"
    script.write_text(example)
    for _ in range(2):
        run_python(script, cwd=tmp_path)
        left = sorted(entry.name for entry in (tmp_path / folder).iterdir())
        assert left == LEFT[folder]
