"""`tf.app.run` reads flags, and calls the script's `main`."""

import subprocess
import sys

import pytest

from frontends import tf

SCRIPT = """
from frontends import tf
tf.disable_v2_behavior()
tf.flags.DEFINE_integer("steps", 1, "how many")
tf.flags.DEFINE_string("folder", None, "where")
def main(argv):
    import logging
    from absl import logging as absl_logging
    absl_logging.info("of the script")
    logging.getLogger("jax._src.x").info("of a library")
    logging.getLogger("jax._src.x").warning("worth a look")
    print(argv[1:], tf.flags.FLAGS.steps, tf.flags.FLAGS.folder)
    return 3
if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("to be seen")
    tf.flags.mark_flag_as_required("folder")
    tf.app.run()
"""


@pytest.mark.parametrize(
    ("arguments", "status", "printed"),
    [
        (["--steps", "5", "--folder=x", "--other=1", "rest"], 3, "['--other=1', 'rest'] 5 x"),
        (["--steps=5"], 1, ""),
    ],
)
def test_main_gets_the_rest_and_ends_the_program(tmp_path, arguments, status, printed):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (status, printed), ended.stderr
    assert "INFO:tensorflow:to be seen" in ended.stderr
    assert ended.stderr.count("to be seen") == 1
    assert ("of the script" in ended.stderr) is (status == 3)
    assert ("worth a look" in ended.stderr) is (status == 3)
    assert "of a library" not in ended.stderr
    assert ("Flag --folder must have a value" in ended.stderr) is (status == 1)


def test_a_script_without_main(monkeypatch):
    monkeypatch.delattr(sys.modules["__main__"], "main", raising=False)
    with pytest.raises(AttributeError, match=r"Define main\(argv\)"):
        tf.app.run()
