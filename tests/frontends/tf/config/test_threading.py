"""Threads: set before the backend starts, in processes of their own."""

import pytest

from frontends import tf

threading = tf.config.threading


def test_before_the_backend_runs(run_python):
    out = run_python(
        "-c",
        "import os\n"
        "from frontends import tf\n"
        "threading = tf.config.threading\n"
        "print(threading.get_intra_op_parallelism_threads(), os.environ.get('NPROC'))\n"
        "threading.set_intra_op_parallelism_threads(3)\n"
        "threading.set_inter_op_parallelism_threads(5)\n"
        "tf.constant(1)\n"
        "threading.set_intra_op_parallelism_threads(3)\n"  # no other number
        "print(threading.get_intra_op_parallelism_threads(), os.environ['NPROC'])\n"
        "print(threading.get_inter_op_parallelism_threads())\n",
    ).stdout.splitlines()
    assert out == ["0 None", "3 3", "5"]


@pytest.mark.parametrize("kind", ["intra", "inter"])
def test_afterwards(kind):
    assert tf.config.list_logical_devices("CPU")
    get = getattr(threading, f"get_{kind}_op_parallelism_threads")
    set_ = getattr(threading, f"set_{kind}_op_parallelism_threads")
    set_(get())
    with pytest.raises(
        RuntimeError, match=f"{kind.capitalize()} op parallelism cannot be modified"
    ):
        set_(get() + 1)
    with pytest.raises(TypeError):
        set_("a")
    with pytest.raises(ValueError, match="0 or more"):
        set_(-1)
