"""The options of RunConfig, TrainSpec, EvalSpec and WarmStartSettings: defaults and checks."""

from collections.abc import Iterator
from typing import Any

from tests.golden.estimators.base import recorded
from tests.golden.estimators.small import GROUP
from tests.golden.scenarios.base import Case, Setting


@recorded("estimator.options", GROUP)
def options(s: Setting) -> Iterator[Case]:
    e = s.tf.estimator
    fields = """
        device_fn eval_distribute evaluation_master global_id_in_cluster is_chief keep_checkpoint_every_n_hours
        keep_checkpoint_max log_step_count_steps master model_dir num_ps_replicas num_worker_replicas protocol
        save_checkpoints_secs save_checkpoints_steps save_summary_steps service session_config task_id task_type
        tf_random_seed train_distribute experimental_max_worker_delay_secs session_creation_timeout_secs
        checkpoint_save_graph_def
    """
    for name in fields.split():
        yield f"run_config/{name}", lambda name=name: getattr(e.RunConfig(), name)
    changes: dict[str, dict[str, Any]] = {
        "steps": {"save_checkpoints_steps": 5},
        "secs": {"save_checkpoints_secs": 5},
        "both": {"save_checkpoints_steps": 5, "save_checkpoints_secs": 5},
        "negative": {"save_checkpoints_steps": -1},
        "keep_negative": {"keep_checkpoint_max": -1},
        "keep_none": {"keep_checkpoint_max": None},
        "summary_negative": {"save_summary_steps": -1},
        "log_zero": {"log_step_count_steps": 0},
        "seed_text": {"tf_random_seed": 1.5},
        "session": {"session_config": "text"},
        "folder": {"model_dir": ""},
    }
    shown = (
        "save_checkpoints_steps",
        "save_checkpoints_secs",
        "keep_checkpoint_max",
        "tf_random_seed",
    )
    for name, change in changes.items():
        yield (
            f"made/{name}",
            lambda change=change: [getattr(e.RunConfig(**change), one) for one in shown],
        )
        yield (
            f"replaced/{name}",
            lambda change=change: [getattr(e.RunConfig().replace(**change), one) for one in shown],
        )
    yield "replaced/strange", lambda: e.RunConfig().replace(strange=1)
    yield "replaced/master", lambda: e.RunConfig().replace(master="a")
    modes = e.ModeKeys
    yield "modes", lambda: [str(one) for one in (modes.TRAIN, modes.EVAL, modes.PREDICT)]

    def train_spec(*args: Any, **options: Any) -> Any:
        made = e.TrainSpec(*args, **options)
        return [made.max_steps, list(made.hooks), list(made._fields)]

    def eval_spec(*args: Any, **options: Any) -> Any:
        made = e.EvalSpec(*args, **options)
        kept = (made.steps, made.name, made.start_delay_secs, made.throttle_secs)
        return [*kept, list(made.hooks), len(list(made.exporters)), list(made._fields)]

    give = lambda: None  # noqa: E731
    yield "train_spec", lambda: train_spec(give, 5)
    yield "train_spec/defaults", lambda: train_spec(give)
    yield "train_spec/zero", lambda: train_spec(give, 0)
    yield "train_spec/no_function", lambda: train_spec(None)
    yield "train_spec/hooks", lambda: train_spec(give, hooks=["hook"])
    yield "eval_spec/defaults", lambda: eval_spec(give)
    yield "eval_spec", lambda: eval_spec(give, None, "name", start_delay_secs=1, throttle_secs=2)
    yield "eval_spec/zero", lambda: eval_spec(give, 0)
    yield "eval_spec/no_function", lambda: eval_spec(None)
    yield "eval_spec/name", lambda: eval_spec(give, name=3)
    yield "eval_spec/exporters", lambda: eval_spec(give, exporters=["exporter"])
    yield "eval_spec/negative_delay", lambda: eval_spec(give, start_delay_secs=-1)
    yield "eval_spec/negative_throttle", lambda: eval_spec(give, throttle_secs=-1)
    yield "warm_start/none", lambda: e.WarmStartSettings(None)
    yield "warm_start/fields", lambda: list(e.WarmStartSettings._fields)
    yield "warm_start/defaults", lambda: list(e.WarmStartSettings("path"))
    yield "spec/fields", lambda: list(e.EstimatorSpec._fields)
