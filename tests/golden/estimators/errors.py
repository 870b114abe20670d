"""What a wrong EstimatorSpec, model_fn, input_fn or estimator raises."""

from collections.abc import Iterator
from typing import Any

from tests.golden.estimators.base import Log, folder, recorded
from tests.golden.estimators.small import GROUP, estimator_of, inputs, model, rows
from tests.golden.scenarios.base import Case, Setting


@recorded("estimator.errors", GROUP)
def errors(s: Setting) -> Iterator[Case]:
    tf = s.tf
    v1 = tf.compat.v1

    def acted(act: str, model_fn: Any = None, **spec: Any) -> Any:
        with Log():
            estimator = estimator_of(tf, model_fn or model(tf, **spec))
            if act == "train":
                estimator.train(rows(tf), steps=1)
            elif act == "evaluate":
                estimator.evaluate(rows(tf), steps=1)
            else:
                next(iter(estimator.predict(inputs(tf))))
        return "nothing raised"

    none = {
        "missing_loss": ("train", {"loss": lambda f: None}),
        "missing_loss_in_evaluation": ("evaluate", {"loss": lambda f: None}),
        "missing_train_op": ("train", {"train_op": lambda f: None}),
        "missing_predictions": ("predict", {"predictions": lambda f: None}),
        "missing_predictions_in_training": ("train", {"predictions": lambda f: None}),
        "wrong_mode": ("train", {"mode": lambda f: "training"}),
        "mode_of_evaluation": ("train", {"mode": lambda f: tf.estimator.ModeKeys.EVAL}),
        "loss_of_rows": ("train", {"loss": lambda f: f["predictions"]["y"][:, 0]}),
        "loss_of_one_row": ("train", {"loss": lambda f: tf.reshape(f["loss"], [1])}),
        "loss_a_number": ("train", {"loss": lambda f: 1.0}),
        "train_op_a_number": ("train", {"train_op": lambda f: 1.0}),
        "train_op_a_function": ("train", {"train_op": lambda f: lambda: None}),
        "predictions_a_list": ("predict", {"predictions": lambda f: [f["predictions"]["y"]]}),
        "predictions_of_a_number": ("predict", {"predictions": lambda f: {"y": 1.0}}),
        "metrics_a_list": ("evaluate", {"eval_metric_ops": lambda f: [1]}),
        "metric_no_pair": ("evaluate", {"eval_metric_ops": lambda f: {"m": f["loss"]}}),
        "metric_of_numbers": ("evaluate", {"eval_metric_ops": lambda f: {"m": (1.0, 2.0)}}),
        "metric_named_loss": (
            "evaluate",
            {"eval_metric_ops": lambda f: {"loss": v1.metrics.mean(f["loss"])}},
        ),
        "metric_named_global_step": (
            "evaluate",
            {"eval_metric_ops": lambda f: {"global_step": v1.metrics.mean(f["loss"])}},
        ),
        "hooks_of_another_class": ("train", {"training_hooks": lambda f: ["hook"]}),
        "scaffold_of_another_class": ("train", {"scaffold": lambda f: "scaffold"}),
        "export_outputs_a_list": ("predict", {"export_outputs": lambda f: [1]}),
        "untrained_predict": ("predict", {}),
    }
    for name, (act, spec) in none.items():
        yield name, lambda act=act, spec=spec: acted(act, **spec)

    def fails(features: Any, labels: Any, mode: str, params: Any) -> Any:
        raise OSError("of the model_fn")

    model_fns: dict[str, Any] = {
        "no_spec": lambda features, labels, mode, params: features["x"],
        "no_features": lambda labels, mode, params: None,
        "strange_argument": lambda features, labels, mode, params, strange: None,
        "no_labels": lambda features, mode, params: None,
        "fails": fails,
    }
    for name, model_fn in model_fns.items():
        yield f"model_fn/{name}", lambda model_fn=model_fn: acted("train", model_fn)

    def trained(input_fn: Any) -> str:
        with Log():
            estimator_of(tf).train(input_fn, steps=1)
        return "nothing raised"

    batches = rows(tf)
    yield "input_fn/none", lambda: trained(None)
    yield "input_fn/nothing", lambda: trained(lambda: None)
    yield "input_fn/three", lambda: trained(lambda: (1, 2, 3))
    yield "input_fn/strange_argument", lambda: trained(lambda strange: batches())
    yield "input_fn/with_mode", lambda: trained(lambda mode, params, config: batches())

    def made(**options: Any) -> str:
        with Log():
            estimator_of(tf, **options)
        return "nothing raised"

    yield "estimator/config", lambda: made(config="config")
    yield "estimator/params_without_argument", lambda: made(model_fn=lambda features: None)
    yield (
        "estimator/two_folders",
        lambda: made(model_dir="/tmp/a", config=tf.estimator.RunConfig(model_dir="/tmp/b")),
    )
    yield "estimator/warm_start", lambda: made(warm_start_from=3)
    yield "estimator/hooks", lambda: estimator_of(tf).train(batches, hooks=["hook"], steps=1)

    class Other(tf.estimator.Estimator):  # type: ignore[misc]
        def train(self, *args: Any, **kwargs: Any) -> None:
            """Overrides."""

    yield "estimator/overrides", lambda: Other(model(tf), folder(), params={})
