"""Exporters: when they export, and what they keep."""

import os

import pytest

from frontends import tf
from frontends.tf.estimator.events import event_writer, write_values

e = tf.estimator


class Exported:
    """Stands for an estimator: exports are empty folders, named by a count."""

    def __init__(self, folder):
        self.model_dir = str(folder)
        self.count = 1_000_000_000
        self.options = []

    def export_saved_model(self, base, receive, **options):
        self.count += 1
        self.options.append((receive, options))
        path = os.path.join(base, str(self.count))
        os.makedirs(path)
        return path.encode()


def receive():
    raise AssertionError("an estimator calls it")


@pytest.fixture
def run(tmp_path):
    """Exports after evaluations with these losses, the last one the final; gives what remains."""

    def run(exporter, losses):
        estimator = Exported(tmp_path)
        base = f"{tmp_path}/export/{exporter.name}"
        done = []
        for index, loss in enumerate(losses):
            is_final = index == len(losses) - 1
            path = exporter.export(estimator, base, "ckpt", {"loss": loss}, is_final)
            done.append(path is not None)
        kept = sorted(os.listdir(base)) if os.path.isdir(base) else []
        return done, [int(name) - 1_000_000_000 for name in kept if name.isdigit()]

    return run


def test_the_latest_are_kept(run):
    exporter = e.LatestExporter("latest", receive, exports_to_keep=2)
    assert run(exporter, [3, 2, 1]) == ([True] * 3, [2, 3])


def test_other_folders_stay(run, tmp_path):
    (tmp_path / "export" / "latest" / "notes").mkdir(parents=True)
    run(e.LatestExporter("latest", receive, exports_to_keep=1), [3, 2])
    assert (tmp_path / "export" / "latest" / "notes").is_dir()


def test_the_final_one_is_exported(run):
    assert run(e.FinalExporter("final", receive), [3, 2, 1]) == ([False, False, True], [1])


def test_better_ones_are_exported(run):
    exporter = e.BestExporter("best", receive, exports_to_keep=None)
    assert run(exporter, [3, 4, 2, 2]) == ([True, False, True, False], [1, 2])


def test_whoever_compares_decides(run):
    def higher(best_eval_result, current_eval_result):
        return current_eval_result["loss"] > best_eval_result["loss"]

    exporter = e.BestExporter(serving_input_receiver_fn=receive, compare_fn=higher)
    assert run(exporter, [3, 4, 2])[0] == [True, True, False]


def test_a_job_that_starts_again_knows_earlier_evaluations(run, tmp_path):
    writer = event_writer(tmp_path / "eval")
    write_values(writer, {"loss": 1.0, "mae": 2.0}, 10)
    writer.flush()
    exporter = e.BestExporter(serving_input_receiver_fn=receive)
    # The first is exported in any case, as in TensorFlow, and is then the best.
    assert run(exporter, [3, 4, 2])[0] == [True, False, True]


def test_the_estimator_gets_what_is_needed(tmp_path):
    estimator = Exported(tmp_path)
    exporter = e.LatestExporter("a", receive, {"x": "y"})
    exporter.export(estimator, str(tmp_path / "a"), "ckpt", {}, False)
    assert estimator.options == [(receive, {"assets_extra": {"x": "y"}, "checkpoint_path": "ckpt"})]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: e.LatestExporter("a", receive, exports_to_keep=0), r"positive number\. Got 0"),
        (lambda: e.BestExporter("a", receive, compare_fn=None), "must not be None"),
        (lambda: e.BestExporter("a", receive, compare_fn=lambda a, b: True), "must take the arg"),
    ],
)
def test_options_are_checked(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_loss_is_needed(run):
    exporter = e.BestExporter("a", receive, event_file_pattern=None)
    run(exporter, [1.0])
    with pytest.raises(ValueError, match="current_eval_result cannot be empty or no loss"):
        exporter.export(None, "", "ckpt", {"mae": 1.0}, False)
