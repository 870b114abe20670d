"""Steps, one after the other, with what hooks ask for and do around them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from frontends.tf.estimator.hooks import SessionRunArgs, SessionRunContext, SessionRunValues
from frontends.tf.estimator.hooks.own import check_loss
from frontends.tf.estimator.model_step import ModelStep
from frontends.tf.estimator.session import Session


class Run:
    """Runs a step on batches.

    Attributes:
        step: the step; another one, when hooks have asked for more.
    """

    def __init__(self, strategy: Any, step: ModelStep) -> None:
        """Takes the strategy that runs the step."""
        self._strategy, self.step = strategy, step

    def fetch(self, names: set[str]) -> None:
        """Has steps return the tensors of some names from now on."""
        fetched = self.step.fetched
        if fetched is not None and not names <= fetched:
            self.step = self.step.fetching(names)

    def __call__(self, batch: Any, *further: Any) -> Any:
        """Runs a step; returns its outputs by name."""
        return self._strategy.run(self.step, (*batch, *further))


# Runs steps on batches, with a session and hooks.
Loop = Callable[[Run, Iterator[Any], Session, Sequence[Any]], None]


def run_steps(run: Run, batches: Iterator[Any], session: Session, hooks: Sequence[Any]) -> None:
    """Runs steps with hooks until the batches end, or a hook stops."""
    for _ in steps_of(run, batches, session, hooks):
        pass


def steps_of(
    run: Run, batches: Iterator[Any], session: Session, hooks: Sequence[Any]
) -> Iterator[Any]:
    """Runs steps with hooks, as `run_steps` does, and yields what each gives."""
    with session.graph.as_default():
        for hook in hooks:
            hook.begin()
    with session.graph.in_session():
        for hook in hooks:
            hook.after_create_session(session, None)
    for batch in batches:
        context = SessionRunContext(SessionRunArgs(session.fetches), session)
        with session.graph.in_session():
            asked = [hook.before_run(context) for hook in hooks]
        wanted = [None if args is None else session.read(args.fetches) for args in asked]
        if session.asked or any(fetches is not None for fetches in wanted):
            run.fetch(session.fetched(wanted))
        session.take(run(batch, *session.arguments(run.step)))
        session.count_step()
        with session.graph.in_session():
            for hook, fetches in zip(hooks, wanted, strict=True):
                results = None if fetches is None else session.values(fetches, session.outputs)
                hook.after_run(context, SessionRunValues(results))
        yield session.outputs
        if context.stop_requested:
            break
    else:
        # TensorFlow finds that the batches have ended when it runs a step.
        context = SessionRunContext(SessionRunArgs(session.fetches), session)
        with session.graph.in_session():
            for hook in hooks:
                hook.before_run(context)
    if session.is_training and session.outputs is not None:
        check_loss(session)
    with session.graph.in_session():
        for hook in hooks:
            hook.end(session)
