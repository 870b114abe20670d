"""Scripts in the style of TensorFlow's guides and tutorials, as they are but for the import line.

Each `.txt` file beside this one is a script that prints, and the `.out` file of its name is what it printed with
TensorFlow 2.21 and Keras 2, without the spelling of tensors. The scripts are our own; what they go through is what
the guides go through: functions, AutoGraph, modules, training loops, custom layers, distributed training, parameter servers, TPUs and input.
"""

import math
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
QUICK = ["autograph", "function", "modules"]
# Other guides, whose parts quick tests of the modules prove.
SLOW = ["autodiff", "custom_layers", "distributed", "keras_loops", "tensors", "training_loops"]
SLOW += ["tpu", "server_fit", "server_loop", "server_parts"]
# With TensorFlow, where there is no TPU, the script went on with eight processors.
VARIABLES = {"tpu": {"JAXTRIBUTE_SIMULATE": "tpu:8"}}


def _tokens(text):
    """Splits what a script printed into numbers and words; `Array(1., dtype=float32)` is the number."""
    text = re.sub(r"\bArray\(|\barray\(|, dtype=\w+\)", " ", text)
    return re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?|-?inf\b|\bnan\b|[A-Za-z_]\w*|==", text)


def _same(ours, theirs):
    try:
        return math.isclose(float(ours), float(theirs), rel_tol=2e-3, abs_tol=1e-5)
    except ValueError:
        return ours == theirs


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(x, marks=pytest.mark.slow) for x in SLOW)])
def test_a_script_prints_what_it_prints_with_tensorflow(name, run_python, tmp_path):
    text = (HERE / f"{name}.txt").read_text()
    assert text.count("import tensorflow as tf") == 1
    script = tmp_path / f"{name}.py"
    script.write_text(text.replace("import tensorflow as tf", "from frontends import tf"))
    printed = run_python(script, cwd=tmp_path, environment=VARIABLES.get(name)).stdout
    ours, theirs = _tokens(printed), _tokens((HERE / f"{name}.out").read_text())
    different = [pair for pair in zip(ours, theirs, strict=False) if not _same(*pair)]
    assert not different, printed
    assert len(ours) == len(theirs), printed
