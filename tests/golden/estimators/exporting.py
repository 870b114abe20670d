"""train_and_evaluate: what it returns, when it evaluates, what exporters keep; and export_saved_model."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.golden.estimators.base import Log, folder, recorded
from tests.golden.estimators.small import GROUP, estimator_of, form, model, rows
from tests.golden.scenarios.base import Case, Setting


def _receiver(tf: Any) -> Callable[[], Any]:
    v1 = tf.compat.v1

    def serving_input_receiver_fn() -> Any:
        x = v1.placeholder(tf.float32, [None, 2])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    return serving_input_receiver_fn


@recorded("estimator.train_and_evaluate", GROUP)
def train_and_evaluate(s: Setting) -> Iterator[Case]:
    tf = s.tf
    e = tf.estimator

    def ran(
        exporters: Callable[[Any], Any] = lambda serve: [],
        max_steps: int = 6,
        saves: int = 2,
        before: int = 0,
        **options: Any,
    ) -> Any:
        def exported(fields: Any) -> Any:
            return {"serving_default": e.export.PredictOutput(fields["predictions"])}

        model_dir = folder()
        run_config = e.RunConfig(save_checkpoints_steps=saves)
        estimator = estimator_of(
            tf, model(tf, export_outputs=exported), model_dir, config=run_config
        )
        with Log() as log:
            if before:
                estimator.train(rows(tf), max_steps=before)
            returned = e.train_and_evaluate(
                estimator,
                e.TrainSpec(rows(tf), max_steps),
                e.EvalSpec(
                    rows(tf, repeat=False),
                    exporters=exporters(_receiver(tf)),
                    **({"start_delay_secs": 0, "throttle_secs": 0} | options),
                ),
            )
        evaluations = [form(x, model_dir) for x in log.lines if x.startswith("Saving dict")]
        notes = (
            "Not ",
            "Training ",
            "Starting",
            "Skipping",
            "Start train",
            "Running training",
            "Performing",
            "Loading best",
        )
        folders = Path(model_dir, "export")
        kept = (
            {one.name: sorted(_kind(x) for x in one.iterdir()) for one in sorted(folders.iterdir())}
            if folders.exists()
            else {}
        )
        results, exports = returned if isinstance(returned, tuple) else (returned, None)
        if isinstance(exports, list):
            exports = [None if one is None else _kind(Path(_text(one))) for one in exports]
        return {
            "results": results,
            "exports": exports,
            "evaluations": evaluations,
            "kept": kept,
            "eval_folders": sorted(x.name for x in Path(model_dir).glob("eval*")),
            "notes": [form(x, model_dir) for x in log.lines if x.startswith(notes)],
        }

    yield "plain", ran
    yield "steps_and_name", lambda: ran(steps=1, name="held_out")
    yield "throttled", lambda: ran(throttle_secs=600)
    yield "saves_once", lambda: ran(saves=100)
    yield "done_before", lambda: ran(max_steps=2, before=2)
    yield "goes_on", lambda: ran(max_steps=5, before=3)
    yield "final", lambda: ran(lambda serve: [e.FinalExporter("final", serve)])
    yield (
        "latest",
        lambda: ran(lambda serve: [e.LatestExporter("latest", serve, exports_to_keep=2)]),
    )
    yield "best", lambda: ran(lambda serve: [e.BestExporter("best", serve, exports_to_keep=2)])
    yield (
        "all_three",
        lambda: ran(
            lambda serve: [
                e.LatestExporter("l", serve),
                e.BestExporter("b", serve),
                e.FinalExporter("f", serve),
            ]
        ),
    )
    yield "one_exporter", lambda: ran(lambda serve: e.FinalExporter("final", serve))
    yield (
        "same_names",
        lambda: ran(lambda serve: [e.FinalExporter("x", serve), e.LatestExporter("x", serve)]),
    )
    yield "keeps_zero", lambda: ran(lambda serve: [e.LatestExporter("l", serve, exports_to_keep=0)])
    specs = e.TrainSpec(rows(tf), 1), e.EvalSpec(rows(tf), 1)
    yield "no_estimator", lambda: e.train_and_evaluate("e", *specs)
    yield "no_train_spec", lambda: e.train_and_evaluate(estimator_of(tf), "t", specs[1])
    yield (
        "no_eval_spec",
        lambda: e.train_and_evaluate(estimator_of(tf), specs[0], "e"),
    )

    def export(trained: bool) -> Any:
        estimator = estimator_of(tf)
        with Log():
            if trained:
                estimator.train(rows(tf), steps=1)
            path = Path(_text(estimator.export_saved_model(folder(), _receiver(tf))))
        return [_kind(path), sorted(one.name for one in path.iterdir())]

    yield "export/trained", lambda: export(True)
    yield "export/untrained", lambda: export(False)


def _kind(path: Path) -> str:
    """An export's name: that is a time."""
    return re.sub(r"^\d{10}$", "TIME", path.name)


def _text(path: Any) -> str:
    return path.decode() if isinstance(path, bytes) else path
