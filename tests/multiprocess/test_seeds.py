"""The scripts of TensorFlow's documents on several workers: as one process with as many devices.

Their strategy becomes `MultiWorkerMirroredStrategy`, as the documents say, and the seeds are set; else they
are as in ../frontends/seeds, with fewer epochs.
"""

from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.multiprocess

SEEDS = Path(__file__).parents[1] / "frontends" / "seeds"
EXAMPLES = Path(__file__).parents[2] / "examples"
STRATEGY = ("tf.distribute.MirroredStrategy()", "tf.distribute.MultiWorkerMirroredStrategy()")
IMPORT = (
    "import tensorflow as tf",
    "from frontends import tf\ntf.keras.utils.set_random_seed(1)",
)


@pytest.fixture
def weights_of(run_cluster, tmp_path):
    """Runs a document's code on workers and on one process; gives the weights of all."""

    def weights_of(name, *changes, workers, devices, start="", data=EXAMPLES / "data"):
        text = (SEEDS / f"{name}.txt").read_text()
        text = text[text.index(start) :]
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        script = tmp_path / f"{name}.py"
        script.write_text(text)

        environment = {}
        if data != EXAMPLES / "data":  # for these models compiling is what takes long
            environment["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"

        def run(workers, devices):
            names = [tmp_path / f"of_{workers}_{task}.npz" for task in range(workers)]
            run_cluster(
                SEEDS / "run_script.py",
                *(script, devices, tmp_path / f"of_{workers}_{{task}}.npz"),
                **{"workers": workers, "devices": devices, "TFDS_DATA_DIR": data, **environment},
            )
            return [list(np.load(name).values()) for name in names]

        return [*run(1, workers * devices), *run(workers, devices)]

    return weights_of


def assert_equal(alone, *tasks, atol=1e-4):
    """Adam divides by the size of a gradient, so one of nearly 0 makes a step of its last bits."""
    assert len(alone) > 0
    for task in tasks:
        for ours, theirs, first in zip(task, alone, tasks[0], strict=True):
            np.testing.assert_array_equal(ours, first)
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "devices"), [(2, 1), (3, 2)])
def test_003_custom_training_loop(weights_of, workers, devices):
    assert_equal(
        *weights_of(
            "003_custom_training_loop",
            *(IMPORT, STRATEGY, ("epochs = 5", "epochs = 1")),
            **{"workers": workers, "devices": devices},
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "devices"), [(3, 1), (2, 2)])
def test_003_mirrored_strategy(weights_of, workers, devices):
    assert_equal(
        *weights_of(
            "003_mirrored_strategy",
            *(IMPORT, STRATEGY, ("epochs=5", "epochs=2")),
            **{"workers": workers, "devices": devices},
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "devices"), [(2, 1), (2, 2)])
def test_004_distributed_training(weights_of, workers, devices):
    start = "# Compute a global batch size"
    strategy = "mirrored_strategy = tf.distribute.MultiWorkerMirroredStrategy()\n"
    assert_equal(
        *weights_of(
            "004_distributed_training",
            (start, f"{IMPORT[1]}\n{strategy}{start}"),
            **{"workers": workers, "devices": devices, "start": start},
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "devices"), [(2, 1), (2, 2)])
def test_004_model_fit(weights_of, workers, devices):
    changes = (IMPORT, STRATEGY)
    assert_equal(*weights_of("004_model_fit", *changes, workers=workers, devices=devices))


@pytest.mark.slow
def test_001_cats_vs_dogs(weights_of, run_python, tmp_path):
    """Drawings, smaller ones than the document's photographs."""
    script = (
        f"import sys; from pathlib import Path; sys.path.insert(0, {str(EXAMPLES)!r})\n"
        f"import _cats_vs_dogs; print(_cats_vs_dogs.generate(Path({str(tmp_path)!r}), 12))"
    )
    changes = (
        *(IMPORT, STRATEGY, ("num_epochs = 5", "num_epochs = 1")),
        ("batch_size_per_replica = 64", "batch_size_per_replica = 3"),
        ("[224, 224]", "[96, 96]"),
        ("classes=2", "classes=2, input_shape=(96, 96, 3)"),
    )
    data = run_python("-c", script).stdout.strip()
    results = weights_of("001_cats_vs_dogs", *changes, workers=2, devices=1, data=data)
    # Its many layers make more of the last bits, in which sums over processes differ.
    assert_equal(*results, atol=1e-3)


MAIN = "tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)\n"


@pytest.fixture
def multi_worker_main(tmp_path):
    """The estimator of seed 002, as every task of a cluster runs it: no folder is named."""
    text = (SEEDS / "002_multi_worker.txt").read_text()
    for old, new in (
        ("import tensorflow as tf", "from frontends import tf"),
        (
            MAIN,
            f"{MAIN}  print(estimator.config.task_type, estimator.get_variable_value('dense/kernel'))\n",
        ),
    ):
        assert old in text
        text = text.replace(old, new)
    script = tmp_path / "main.py"
    start = "tf.logging.set_verbosity(tf.logging.INFO)\n"
    script.write_text(f"{text}\neval_input_fn = input_fn\n{start}model_main()\n")
    return script


@pytest.mark.slow
def test_002_multi_worker(multi_worker_main, run_python, tmp_path):
    """Three workers and an evaluator, which ends when they have, though no step is the last."""
    done = run_python(
        *("-m", "spmd.cli", "launch", "--workers", 3, "--evaluator", "--devices-per-worker", 2),
        multi_worker_main,
        environment={"TMPDIR": str(tmp_path)},
    )
    lines = done.stdout.splitlines()
    values = {line.partition("] ")[2] for line in lines if " [[" in line}
    assert len([line for line in lines if " [[" in line]) == 4
    assert {value.partition(" ")[0] for value in values} == {"worker", "evaluator"}
    assert len({value.partition(" ")[2] for value in values}) == 1
    assert done.stderr.count("Saving dict for global step 0: global_step = 0, loss = 0") == 1


@pytest.mark.slow
def test_002_multi_worker_by_hand(multi_worker_main, run_cluster):
    """Each worker gets its TF_CONFIG from somebody else."""
    tasks = run_cluster(multi_worker_main, workers=3, devices=2)
    (printed,) = {task.lines[-1] for task in tasks}
    assert printed.startswith("worker [[")
