"""When hooks and listeners are called, and with what."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.golden.estimators.base import Log, folder, recorded
from tests.golden.estimators.small import GROUP, estimator_of, inputs, model, rows
from tests.golden.scenarios.base import Case, Setting


def _hook(
    tf: Any, name: str, calls: list[Any], stop_after: int | None = None, fails: bool = False
) -> Any:
    """A hook that writes down how it is called."""
    v1 = tf.compat.v1

    class Hook(v1.train.SessionRunHook):
        runs = 0

        def begin(self) -> None:
            calls.append([name, "begin"])
            self.step = v1.train.get_global_step()

        def after_create_session(self, session: Any, coord: Any) -> None:
            calls.append([name, "after_create_session"])

        def before_run(self, run_context: Any) -> Any:
            calls.append([name, "before_run"])
            return v1.train.SessionRunArgs({"step": self.step})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.runs += 1
            step = int(run_values.results["step"])
            calls.append([name, "after_run", step, run_context.stop_requested])
            if fails:
                raise KeyError("of the hook")
            if self.runs == stop_after:
                run_context.request_stop()

        def end(self, session: Any) -> None:
            calls.append([name, "end"])

    return Hook()


@recorded("estimator.hooks", GROUP)
def hooks(s: Setting) -> Iterator[Case]:
    tf = s.tf
    train = tf.compat.v1.train

    def calls(act: Callable[[Any, list[Any]], Any], **spec: Any) -> list[Any]:
        found: list[Any] = []
        with Log():
            made = {key: lambda f, make=make: make(found) for key, make in spec.items()}
            estimator = estimator_of(tf, model(tf, **made))
            try:
                act(estimator, found)
            except KeyError as error:
                found.append(["raised", str(error)])
        return found

    def hook(name: str, found: list[Any], **options: Any) -> Any:
        return _hook(tf, name, found, **options)

    yield (
        "train",
        lambda: calls(
            lambda e, f: e.train(rows(tf), [hook("a", f), hook("b", f)], steps=2),
        ),
    )
    yield (
        "of_spec",
        lambda: calls(
            lambda e, f: e.train(rows(tf), [hook("given", f)], steps=1),
            training_hooks=lambda f: [hook("training", f)],
            training_chief_hooks=lambda f: [hook("chief", f)],
        ),
    )
    yield (
        "stop",
        lambda: calls(
            lambda e, f: e.train(rows(tf), [hook("a", f, stop_after=2), hook("b", f)], steps=5)
        ),
    )
    yield (
        "fails",
        lambda: calls(
            lambda e, f: e.train(rows(tf), [hook("a", f, fails=True), hook("b", f)], steps=2)
        ),
    )
    yield (
        "input_ends",
        lambda: calls(
            lambda e, f: e.train(rows(tf, repeat=False, count=12), [hook("a", f)], steps=5)
        ),
    )
    yield (
        "stop_at_step",
        lambda: calls(
            lambda e, f: e.train(
                rows(tf), [train.StopAtStepHook(last_step=2), hook("a", f)], steps=5
            )
        ),
    )

    def trained(act: Callable[[Any, list[Any]], Any]) -> Callable[[Any, list[Any]], Any]:
        def acts(estimator: Any, found: list[Any]) -> None:
            estimator.train(rows(tf), steps=3)
            act(estimator, found)

        return acts

    yield (
        "evaluate",
        lambda: calls(trained(lambda e, f: e.evaluate(rows(tf), 2, [hook("given", f)]))),
    )
    yield (
        "evaluate_of_spec",
        lambda: calls(
            trained(lambda e, f: e.evaluate(rows(tf), 1)),
            evaluation_hooks=lambda f: [hook("evaluation", f)],
        ),
    )
    yield (
        "predict",
        lambda: calls(
            trained(lambda e, f: f.append(len(list(e.predict(inputs(tf), hooks=[hook("a", f)])))))
        ),
    )
    yield (
        "predict_of_spec",
        lambda: calls(
            trained(lambda e, f: f.append(len(list(e.predict(inputs(tf)))))),
            prediction_hooks=lambda f: [hook("prediction", f)],
        ),
    )

    def listened() -> list[Any]:
        found: list[Any] = []

        class Listener(train.CheckpointSaverListener):
            def begin(self) -> None:
                found.append(["begin"])

            def before_save(self, session: Any, global_step_value: Any) -> None:
                found.append(["before_save", int(global_step_value)])

            def after_save(self, session: Any, global_step_value: Any) -> None:
                found.append(["after_save", int(global_step_value)])

            def end(self, session: Any, global_step_value: Any) -> None:
                found.append(["end", int(global_step_value)])

        run_config = tf.estimator.RunConfig(save_checkpoints_steps=2)
        with Log():
            estimator_of(tf, config=run_config).train(
                rows(tf), steps=5, saving_listeners=[Listener()]
            )
        return found

    yield "listeners", listened

    def nan() -> Any:
        with Log():
            model_fn = model(tf, loss=lambda fields: fields["loss"] * float("nan"))
            estimator_of(tf, model_fn).train(rows(tf), steps=3)

    yield "nan", nan

    def among_hooks(saves: str | None = None) -> list[Any]:
        """What hooks find in the folder when they are called, with the estimator's own saver or one that is among them."""
        found: list[Any] = []
        model_dir, other = folder(), folder()

        def latest() -> list[Any]:
            paths = [tf.train.latest_checkpoint(one) for one in (model_dir, other)]
            return [None if path is None else path.rpartition("/")[2] for path in paths]

        class Looking(train.SessionRunHook):
            def __init__(self, name: str) -> None:
                self.name = name

            def after_create_session(self, session: Any, coord: Any) -> None:
                found.append([self.name, "after_create_session", *latest()])

            def after_run(self, run_context: Any, run_values: Any) -> None:
                found.append([self.name, "after_run", *latest()])

            def end(self, session: Any) -> None:
                found.append([self.name, "end", *latest()])

        hooks = [Looking("given")]
        if saves is not None:
            hooks.append(train.CheckpointSaverHook(other, save_steps=2, checkpoint_basename=saves))
        model_fn = model(
            tf,
            training_hooks=lambda fields: [Looking("training")],
            training_chief_hooks=lambda fields: [Looking("chief")],
        )
        run_config = tf.estimator.RunConfig(save_checkpoints_steps=2)
        with Log():
            estimator_of(tf, model_fn, model_dir, config=run_config).train(rows(tf), hooks, steps=3)
        return found

    yield "order/own_saver", among_hooks
    yield "order/saver_given", lambda: among_hooks("model.ckpt")
    yield "order/saver_given_with_name", lambda: among_hooks("other.ckpt")
