"""`jaxtribute check`, from its options to its exit status."""

import importlib
import json
import tomllib
from importlib import metadata

import pytest

from frontends.tf.check import check
from spmd import cli
from tests.frontends.tf.check.scripts import ROOT

GOOD = "import tensorflow as tf\nprint(tf.reduce_sum([1, 2]))\n"
BAD = "import tensorflow as tf\ntf.Session()\n"


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """As installed: an older installation of this checkout does not know the entry point yet."""
    entry = metadata.EntryPoint("check", "frontends.tf.check:check", "jaxtribute.commands")
    monkeypatch.setattr(cli.metadata, "entry_points", lambda group: metadata.EntryPoints([entry]))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        status = cli.main(["check", *words])
        return status, *capsys.readouterr()

    return run


def test_the_project_registers_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["jaxtribute.commands"]["check"].partition(":")
    assert getattr(importlib.import_module(module), name) is check


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "--help"])
    assert ended.value.code == 0
    assert "jaxtribute check --fix train.py" in capsys.readouterr().out


def test_a_script_that_finds_all_names(run):
    status, output, errors = run("a.py", a=GOOD)
    assert (status, errors) == (0, "")
    assert output.startswith("a.py  1 name: 1 work\n")


def test_a_script_that_misses_one(run):
    status, output, _ = run("a.py", "b.py", a=GOOD, b=BAD)
    assert status == 1
    assert "2 files with TensorFlow: 1 find all names, 1 do not" in output


def test_a_folder_shows_only_what_uses_tensorflow(run):
    status, output, _ = run(".", a=GOOD, other="import numpy\n")
    assert status == 0
    assert "other.py" not in output
    assert "does not use TensorFlow" in run("other.py")[1]
    assert run(".", "--summary")[1].startswith("1 file with TensorFlow")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["absent.py"], "there is no absent.py"),
        (["a.py", "--in-place"], "--in-place goes with --fix"),
        (["a.py", "--force"], "--force goes with --fix"),
        (["a.py", "--fix", "--in-place", "--force"], "--force goes with --fix that writes copies"),
        (["empty"], "no .py and no .ipynb file there"),
    ],
)
def test_usage(run, tmp_path, words, problem):
    (tmp_path / "empty").mkdir()
    status, output, errors = run(*words, a=GOOD)
    assert (status, output) == (2, "")
    assert problem in errors


def test_json_is_json(run):
    status, output, _ = run("--format", "json", "b.py", b=BAD)
    assert status == 1
    assert json.loads(output)["summary"]["missing"] == {"tf.Session": 1}


def test_notes_for_github(run):
    assert "::error file=b.py,line=2" in run("--format", "github", "b.py", b=BAD)[1]


def test_fix_writes_a_copy(run, tmp_path):
    status, _, errors = run("--fix", "a.py", a=GOOD)
    assert (status, errors) == (0, "wrote a_jaxtribute.py\n")
    assert (tmp_path / "a.py").read_text() == GOOD
    fixed = (tmp_path / "a_jaxtribute.py").read_text()
    assert fixed == GOOD.replace("import tensorflow as tf", "from frontends import tf")
    assert run("--fix", "a.py")[0] == 0  # the same again
    status, _, errors = run("--fix", "a.py", a_jaxtribute="mine = 1\n")
    assert status == 2
    assert "a_jaxtribute.py exists" in errors
    assert "--force replaces it" in errors
    assert (tmp_path / "a_jaxtribute.py").read_text() == "mine = 1\n"
    assert run("--fix", "--force", "a.py")[0] == 0
    assert (tmp_path / "a_jaxtribute.py").read_text() == fixed


def test_fix_writes_the_same_copy_again_whatever_its_line_ends(run, tmp_path):
    (tmp_path / "a.py").write_bytes(
        "# coding: latin-1\r\nimport tensorflow\r\n'ü'".encode("latin-1")
    )
    assert run("--fix", "a.py")[0] == run("--fix", "a.py")[0] == 0


def test_fix_in_place(run, tmp_path):
    status, _, errors = run("--fix", "--in-place", ".", a=GOOD, b=BAD, c="x = 1\n")
    assert (status, errors) == (1, "wrote a.py\nwrote b.py\n")
    assert (tmp_path / "a.py").read_text().startswith("from frontends import tf\n")
    assert run(".")[0] == 1
    assert run("--fix", "--in-place", ".")[2] == ""  # nothing is left to change


def test_fix_of_a_folder_copies_it_whole(run, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text(GOOD)
    (tmp_path / "project" / "b.py").write_text("import a\n")
    status, _, errors = run("--fix", "project", "c.py", c=GOOD)
    copied = tmp_path / "project_jaxtribute"
    assert (status, errors) == (
        0,
        f"wrote {copied}: 2 files, 1 of them changed. Run them from {copied}\nwrote c_jaxtribute.py\n",
    )
    assert (copied / "b.py").read_text() == "import a\n"
    (copied / "__init__.py").write_text("")
    (copied / "nets").mkdir()
    (copied / "nets" / "__init__.py").write_text("")
    (copied / "nets" / "c.py").write_text(GOOD)
    status, _, errors = run("--fix", "project_jaxtribute/nets")
    assert status == 2
    assert "is a part of the package project_jaxtribute" in errors


def test_bytes_besides_the_import_stay(run, tmp_path):
    text = "# coding: latin-1\r\nimport tensorflow as tf\r\nx = 'ü'\r\n".encode("latin-1")
    (tmp_path / "a.py").write_bytes(text)
    run("--fix", "--in-place", "a.py")
    expected = text.replace(b"import tensorflow as tf", b"from frontends import tf")
    assert (tmp_path / "a.py").read_bytes() == expected


def test_a_fixed_script_runs(run, tmp_path, run_python):
    text = """
import numpy as np, tensorflow as tf
from tensorflow.keras import layers as L
import tensorflow.keras.backend as K
from tensorflow.python.keras.utils import (
    to_categorical,  # of Keras
)

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((3,)), L.Dense(2)])
    model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensor_slices((np.ones((8, 3)), to_categorical([0, 1] * 4, 2))).batch(4)
history = model.fit(data, epochs=2, verbose=0)
print("epochs", len(history.history["loss"]), K.floatx())
"""
    status, _, _ = run("--fix", "train.py", train=text)
    assert status == 0
    done = run_python(tmp_path / "train_jaxtribute.py", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "epochs 2 float32"


def test_the_output_in_the_documentation_is_real(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = (ROOT / "docs" / "check.md").read_text()
    script = page.partition("```python\n")[2].partition("```")[0]
    shown = page.partition("$ jaxtribute check train.py\n")[2].partition("```")[0]
    status, output, _ = run("train.py", train=script)
    assert status == 1
    assert "".join(f"{line.rstrip()}\n" for line in output.splitlines()) == shown


def test_a_helper_of_a_project_for_version_1_imports_that_version(run, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(
        "import tensorflow as tf\nimport nets\ntf.logging.info('x')\n"
    )
    (project / "nets.py").write_text("import tensorflow as tf\ndrop = tf.nn.dropout\n")
    status, output, _ = run("--fix", "project")
    assert status == 0
    told = " ".join(output.split())
    assert (
        "for TensorFlow 1: project/train.py imports it, and uses tf.logging.info (line 3)" in told
    )
    copied = (tmp_path / "project_jaxtribute" / "nets.py").read_text()
    assert copied.startswith("from frontends.tf.compat import v1 as tf\n")
