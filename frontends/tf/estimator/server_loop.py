"""Steps of an estimator that workers run, on variables that parameter servers hold.

The *coordinator* hands a step to whichever worker is free, and calls hooks when it has run. With several workers some steps
are under way at any time: `after_run` is then called for one of them after the other, while the others go on.
"""

import collections
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from frontends.tf.distribute.coordinator.cluster_coordinator import ClusterCoordinator
from frontends.tf.distribute.coordinator.per_worker import PerWorkerValues, current_worker
from frontends.tf.distribute.coordinator.remote_value import RemoteValue
from frontends.tf.estimator.hooks import SessionRunArgs, SessionRunContext, SessionRunValues
from frontends.tf.estimator.hooks.basic import StopAtStepHook
from frontends.tf.estimator.hooks.checkpoint_saver import savers_among
from frontends.tf.estimator.hooks.own import check_loss
from frontends.tf.estimator.model_step import ModelStep
from frontends.tf.estimator.session import Session

# How long a worker whose data has ended leaves steps to the others before it is asked again.
_IDLE_SECONDS = 0.05
# How long nobody else runs a step until a worker counts as gone: longer than one is kept from it on a busy machine.
_GONE_SECONDS = 5.0
# As many steps are handed out as run in so many seconds, within these bounds for each worker.
_SECONDS_AHEAD = 0.4
_FEWEST_AHEAD, _MOST_AHEAD = 2, 32
# How long steps that run are waited for after an error.
_STOP_SECONDS = 1.0


class WorkerBatches(PerWorkerValues):
    """An iterator over batches for each worker, which makes its own."""

    def __init__(
        self, make: Callable[[int], Iterator[Any]], made: dict[int, Iterator[Any]]
    ) -> None:
        """Takes what makes them.

        Args:
            make: returns the batches of a worker; called in its process.
            made: those of workers in this process, as far as there are some.
        """
        super().__init__(())
        self._make, self._made = make, made

    def of_worker(self, worker: int) -> Any:
        """Returns the iterator of one worker."""
        if worker not in self._made:
            self._made[worker] = self._make(worker)
        return self._made[worker]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_made": {}}  # what this process made


class Run(Protocol):
    """Runs a step in this process, as estimators do without servers.

    Attributes:
        step: what one replica does.
    """

    step: ModelStep

    def fetch(self, names: set[str]) -> None:
        """Has steps return the tensors of some names from now on; there is another step then."""
        ...


class _Step:
    """What a worker does: it takes its next batch."""

    def __init__(self, strategy: Any, step: ModelStep) -> None:
        self.strategy, self.step = strategy, step

    def __call__(
        self, batches: Iterator[Any], ended: frozenset[int], further: tuple[Any, ...]
    ) -> Any:
        """Returns what the step gives; or the number of the worker, if it has no batch any more."""
        worker = current_worker()
        if worker in ended:
            time.sleep(_IDLE_SECONDS)
            return worker
        batch = next(batches, None)
        if batch is None:
            return worker
        return self.strategy.run(self.step, (*batch, *further))


class ServerLoop:
    """Runs steps with hooks, as `Estimator` does without servers."""

    def __init__(
        self, strategy: Any, make_batches: Callable[[int], Iterator[Any]], own: int | None
    ) -> None:
        """Prepares for a training.

        Args:
            strategy: its `ParameterServerStrategy`.
            make_batches: returns the batches of a worker; called in its process.
            own: the worker that is this process; None if none is.
        """
        self._strategy, self._workers = strategy, strategy.num_workers
        self._coordinator = ClusterCoordinator(strategy)
        self._make_batches, self._own = make_batches, own
        # In the order in which they were scheduled, by their number.
        self._flying: dict[int, RemoteValue] = {}
        self._next = 0
        # What has come, and is not counted yet.
        self._came: collections.deque[Any] = collections.deque()
        self._ended: frozenset[int] = frozenset()
        self._last_step = 0  # the next number when a step came last
        self._lost = 0
        self._time, self._seconds = 0.0, 0.0  # when one came, and how far apart they are

    def __call__(
        self,
        run: Run,
        batches: Iterator[Any],
        session: Session,
        hooks: Sequence[Any],
    ) -> None:
        """Runs steps until the batches of all workers end, or a hook stops.

        Args:
            run: has the step.
            batches: those of this process, which a worker takes if one is here.
            session: of the training.
            hooks: called around steps.

        Raises:
            UnavailableError: a parameter server was lost.
        """
        try:
            self._run(run, batches, session, hooks)
        finally:
            self._coordinator.stop(wait_seconds=_STOP_SECONDS)

    def _run(
        self, run: Run, batches: Iterator[Any], session: Session, hooks: Sequence[Any]
    ) -> None:
        with session.graph.as_default():
            for hook in hooks:
                hook.begin()
        with session.graph.in_session():
            for hook in hooks:
                hook.after_create_session(session, None)
        made = {} if self._own is None else {self._own: batches}
        all_batches = WorkerBatches(self._make_batches, made)
        step = _Step(self._strategy, run.step)
        # Hooks of a step are called when others are under way, so these return what later hooks may ask for.
        names = set(session.graph.given)

        def schedule() -> RemoteValue:
            return self._coordinator.schedule(
                step, args=(all_batches, self._ended, session.arguments(step.step))
            )

        while True:
            context = SessionRunContext(SessionRunArgs(session.fetches), session)
            with session.graph.in_session():
                asked = [hook.before_run(context) for hook in hooks]
            wanted = [None if args is None else session.read(args.fetches) for args in asked]
            names |= session.fetched(wanted)
            run.fetch(names)
            if run.step is not step.step:
                step = _Step(self._strategy, run.step)
            if not self._take(schedule, session, hooks):
                break
            with session.graph.in_session():
                for hook, fetches in zip(hooks, wanted, strict=True):
                    results = None if fetches is None else session.values(fetches, session.outputs)
                    hook.after_run(context, SessionRunValues(results))
            if context.stop_requested:
                break
        self._finish(session)
        if session.outputs is not None:
            check_loss(session)
        with session.graph.in_session():
            for hook in hooks:
                hook.end(session)

    def _take(
        self, schedule: Callable[[], RemoteValue], session: Session, hooks: Sequence[Any]
    ) -> bool:
        """Gives the session what the next step has given; returns whether there was one."""
        while True:
            while self._may_schedule(session, hooks):
                self._flying[self._next] = schedule()
                self._next += 1
            if self._came:
                break
            self._wait()
            if not self._came and self._all_ended():
                while self._flying:  # one may have ended just after it was looked at
                    self._wait()
                if not self._came:
                    return False
        session.take(self._came.popleft())
        self._count(session)
        # A checkpoint is of a moment at which no step runs.
        session.is_alone = not self._flying and not self._came
        if session.is_alone:
            self._correct(session)
        return True

    def _wait(self) -> None:
        """Waits for results, and takes those that are there."""
        self._coordinator.wait([*self._flying.values()])
        for number, value in list(self._flying.items()):
            if not value.engine_value.done():
                continue
            del self._flying[number]
            result = value.get()
            if isinstance(result, int):
                self._ended |= {result}
            else:
                self._came.append(result)
                self._last_step = self._next

    def _all_ended(self) -> bool:
        """Tells whether no worker has a batch: all say so, or, as one may be gone, nobody else has run anything for long."""
        if len(self._ended) == self._workers:
            return True
        oldest = min(self._flying, default=self._next)
        has_passed = time.monotonic() > self._time + _GONE_SECONDS
        return bool(self._ended) and has_passed and oldest > self._last_step + 3 * self._workers

    def _may_schedule(self, session: Session, hooks: Sequence[Any]) -> bool:
        waiting = len(self._flying) + len(self._came)
        if not waiting:
            return True
        if self._workers == 1 or session.increment is None:
            return False
        if len(self._flying) >= self._ahead():
            return False
        savers = savers_among(hooks)
        if any(saver.is_due(session.global_step) for saver in savers):
            return False
        limits = [hook.last_step for hook in hooks if isinstance(hook, StopAtStepHook)]
        limits += [saver.next_step() for saver in savers]
        last = min((one for one in limits if one is not None), default=None)
        return last is None or session.global_step + waiting * session.increment < last

    def _ahead(self) -> int:
        """Returns how many steps are handed out at once: so many that no worker waits for hooks."""
        wanted = int(_SECONDS_AHEAD / self._seconds) if self._seconds else 0
        return min(max(wanted, _FEWEST_AHEAD * self._workers), _MOST_AHEAD * self._workers)

    def _count(self, session: Session) -> None:
        is_first = session.increment is None
        session.count_step()
        if is_first and self._coordinator.lost and session.increment:
            # It may have run several times.
            session.global_step -= session.increment - 1
            session.increment = 1
        now = time.monotonic()
        if self._time:
            self._seconds += 0.1 * (now - self._time - self._seconds)
        self._time = now

    def _correct(self, session: Session) -> None:
        """Sets the global step to the number of steps: one that ran again, as its worker was lost, may have moved it twice."""
        if self._coordinator.lost != self._lost:
            self._lost = self._coordinator.lost
            session.write_global_step()

    def _finish(self, session: Session) -> None:
        """Waits for the steps that run, drops those that wait, and counts."""
        self._coordinator.stop(wait_seconds=None)
        last = [one.get() for one in self._flying.values() if not one.engine_value.has_failed()]
        steps = len(self._came) + sum(not isinstance(one, int) for one in last)
        for _ in range(steps):
            self._count(session)
        self._correct(session)
