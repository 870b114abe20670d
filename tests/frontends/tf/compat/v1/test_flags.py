"""Flags are absl's, and read the command line by themselves."""

import subprocess
import sys

import pytest
from absl import flags as absl_flags

from frontends import tf


@pytest.fixture
def flags(monkeypatch):
    """`tf.flags` over flags of its own."""
    found = tf.flags
    monkeypatch.setattr(absl_flags, "FLAGS", absl_flags.FlagValues())
    return found


def define(flags, function, *args, **kwargs):
    function(*args, flag_values=absl_flags.FLAGS, **kwargs)
    return flags.FLAGS


def test_values_are_read_from_the_command_line_when_one_is_asked_for(flags, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["x.py", "--steps=7", "--nofake", "--mode", "b", "rest"])
    define(flags, flags.DEFINE_integer, "steps", 1, "how many")
    define(flags, flags.DEFINE_bool, "fake", True, "whether")
    define(flags, flags.DEFINE_boolean, "real", False, "whether")
    define(flags, flags.DEFINE_enum, "mode", "a", ["a", "b"], "which")
    define(flags, flags.DEFINE_list, "names", "c,d", "which")
    found = define(flags, flags.DEFINE_float, flag_name="rate", default_value=0.5, docstring="how")
    assert not absl_flags.FLAGS.is_parsed()
    assert (found.steps, found.fake, found.real, found.mode) == (7, False, False, "b")
    assert (found.names, found.rate) == (["c", "d"], 0.5)
    found.steps = 8
    assert found["steps"].value == 8
    assert "steps" in found
    assert "rate" in dir(found)
    with pytest.raises(AttributeError, match="nothing"):
        _ = found.nothing


def test_the_face_is_in_all_places():
    assert tf.flags is tf.app.flags is tf.compat.v1.flags is tf.compat.v1.app.flags
    assert tf.flags.mark_flag_as_required is absl_flags.mark_flag_as_required
    assert tf.flags.DEFINE_multi_string is absl_flags.DEFINE_multi_string


def test_a_script_may_call_its_folder_as_absl_does(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from frontends import tf\n"
        "assert 'frontends.tf.compat.v1.flags' not in sys.modules\n"
        "from absl import logging\n"
        "tf.app.flags.DEFINE_string('log_dir', '/tmp/x', 'where')\n"
        "print(tf.app.flags.FLAGS.log_dir)\n"
    )
    command = [sys.executable, str(script)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.stdout.strip() == "/tmp/x", ended.stderr
