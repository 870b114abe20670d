"""Import lines are changed, and nothing else."""

import json

import pytest

from frontends.tf.check.fixes import changed, changed_file, changes_in
from frontends.tf.check.sources import read
from frontends.tf.check.uses import uses_in


def fixed(text):
    return changed(text, changes_in(text, uses_in(text)))


def fixed_file(path):
    source = read(path)
    return changed_file(source, changes_in(source.text, uses_in(source.text)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import tensorflow as tf", "from frontends import tf"),
        ("import tensorflow as tf  # 2.x", "from frontends import tf  # 2.x"),
        ("import tensorflow.keras.layers as L", "from frontends.tf.keras import layers as L"),
        (
            "if x:\n    import tensorflow as tf, os\n",
            "if x:\n    from frontends import tf\n    import os\n",
        ),
        ("x = 'ü'; import os, tensorflow as tf", "x = 'ü'; import os; from frontends import tf"),
        (
            "from tensorflow.keras.layers import (\n    Dense,  # one\n    Dropout,\n)\n",
            "from frontends.tf.keras.layers import (\n    Dense,  # one\n    Dropout,\n)\n",
        ),
        (
            "from tensorflow import keras as k, float32",
            "from frontends.tf import keras as k, float32",
        ),
        (
            "from tensorflow.compat import v1 as tf1, v2 as tf",
            "from frontends.tf.compat import v1 as tf1\nfrom frontends import tf",
        ),
        ("import os, \\\n    tensorflow as tf\nx", "import os\nfrom frontends import tf\nx"),
        ("import tensorflow as tf\r\nx\r\n", "from frontends import tf\r\nx\r\n"),
        (
            "import keras\nfrom keras import layers\nimport tensorflow as tf",
            "import frontends.tf\nimport keras\nfrom keras import layers\nfrom frontends import tf",
        ),
        (
            "import keras_hub  # models\nfrom frontends import tf",
            "import frontends.tf\nimport keras_hub  # models\nfrom frontends import tf",
        ),
        ("import tensorflow as tf\nimport keras", "from frontends import tf\nimport keras"),
        (
            "if x:\n    import keras\nimport tensorflow as tf",
            "if x:\n    import keras\nfrom frontends import tf",
        ),
    ],
)
def test_changes(old, new):
    assert fixed(old) == new
    assert fixed(new) == new


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow.python.ops import gen_math_ops",
        "from tensorflow import *",
        "import tensorflow_datasets as tfds",
        "from frontends import tf",
        "from .tensorflow import x",
    ],
)
def test_what_stays(text):
    assert fixed(text) == text


def test_a_name_that_is_missing_is_asked_of_this_front_end():
    # Its error says what to use instead.
    old = "from tensorflow.keras.layers import Dense, CuDNNGRU"
    assert fixed(old) == "from frontends.tf.keras.layers import Dense, CuDNNGRU"


def test_cells_of_a_notebook(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [
        {"cell_type": "markdown", "source": "import tensorflow as tf"},
        {
            "cell_type": "code",
            "source": ["%pip x\n", "import tensorflow as tf\n", "tf.ü"],
            "outputs": [],
        },
        {"cell_type": "code", "source": "from tensorflow import keras", "outputs": []},
        {
            "cell_type": "code",
            "source": "%%writefile model.py\nimport tensorflow as tf",
            "outputs": [],
        },
    ]
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}, ensure_ascii=False))
    text = fixed_file(path)
    cells[1]["source"][1] = "from frontends import tf\n"
    cells[2]["source"] = "from frontends.tf import keras"
    cells[3]["source"] = "%%writefile model.py\nfrom frontends import tf"
    assert json.loads(text) == {"cells": cells, "nbformat": 4}
    assert "ü" in text


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "layout",
    [
        {"indent": 1, "ensure_ascii": False},
        {"indent": 2},
        {"indent": 4, "sort_keys": True},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {},
    ],
    ids=str,
)
def test_a_notebook_keeps_its_layout(tmp_path, layout, line_end, end):
    path = tmp_path / "a.ipynb"
    old, new = "import tensorflow as tf", "from frontends import tf"
    cell = {"metadata": {}, "cell_type": "code", "source": [f"{old}\n", "'ü'"], "outputs": []}
    notebook = {"nbformat": 4, "metadata": {"a": [1.5, None]}, "cells": [cell]}
    before = json.dumps(notebook, **layout).replace("\n", line_end) + end
    path.write_bytes(before.encode())
    assert fixed_file(path) == before.replace(old, new)
