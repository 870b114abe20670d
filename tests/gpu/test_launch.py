"""`jaxtribute launch` divides the GPUs that are there."""

SCRIPT = """
from frontends import tf
strategy = tf.distribute.MirroredStrategy()
print("devices", strategy.num_replicas_in_sync, tf.Variable(1.0).device)
"""


def launch(run_python, tmp_path, *words, status=0):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {"JAX_PLATFORMS": "", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    words = ("-m", "spmd.cli", "launch", *words, script)
    return run_python(*words, status=status, environment=environment)


def test_one_worker_gets_a_gpu(run_python, tmp_path):
    done = launch(run_python, tmp_path, "--workers", 1, "--devices-per-worker", 1)
    assert "devices 1 " in done.stdout
    assert "GPU:0" in done.stdout


def test_more_workers_than_gpus_are_refused(run_python, tmp_path):
    done = launch(run_python, tmp_path, "--workers", 64, status=2)
    assert "Expected 64 GPUs, 1 for each of 64 tasks that compute" in done.stderr
