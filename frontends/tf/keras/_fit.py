"""`fit`, `evaluate` and `predict` under a strategy: where a model runs, and what all workers do together.

A model belongs to the strategy whose scope it was made in, as in TensorFlow.
"""

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from jax.sharding import Mesh

from frontends.tf._step_state import SEARCHED
from frontends.tf.data.dataset import Dataset
from frontends.tf.distribute.auto_shard import distributed, divides_data
from frontends.tf.distribute.scope import StrategyLike, get_strategy, in_force
from frontends.tf.distribute.strategies.parameter_server import ParameterServerStrategy
from frontends.tf.keras._backup import giving_sigterm_back
from frontends.tf.keras._dataset_adapter import ON_ALL_WORKERS
from frontends.tf.keras._dataset_creator import made
from frontends.tf.keras._keras_2 import is_dynamic
from frontends.tf.keras._outputs import one_writer
from frontends.tf.keras._server_fit import WorkersLoop, fit_arguments
from frontends.tf.keras._text_batches import reading_texts_of
from frontends.tf.ops.random_stream import drawing_inside, make_stream
from frontends.tf.traced_values import NEEDS_VALUE, not_allowed
from spmd.integrations.keras import (
    Method,
    Model,
    Placement,
    mesh_of,
    place_model,
    place_models,
    placement_of,
    share_losses,
)
from spmd.replica import in_replica
from spmd.source_lines import shorten_traceback
from spmd.topology import spans_processes

_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True)
class _StrategyPlacement(Placement):
    strategy: Any = None

    def __reduce__(self) -> Any:
        return _placement, (self.strategy,)


def connect() -> None:
    """Lets the strategy in force place new models and share losses."""
    place_models(lambda: _placement(get_strategy()))
    share_losses(lambda: get_strategy().num_replicas_in_sync)


def _placement(strategy: StrategyLike) -> Placement:
    """Returns where the models of a strategy run."""

    def run(function: Callable[..., Any], *args: object) -> Any:
        return strategy.run(drawing_inside(function), args=args)

    train = None
    if isinstance(strategy, ParameterServerStrategy) and not strategy.is_local:
        train = functools.partial(WorkersLoop, strategy)
    elsewhere = None
    if _is_elsewhere(strategy):
        # Imported here: it needs Ray.
        from frontends.tf.keras._standalone_fit import RemoteLoop

        remote: Any = strategy
        elsewhere = functools.partial(RemoteLoop, remote)
    return _StrategyPlacement(strategy.mesh, run, SEARCHED, train, elsewhere, strategy)


def _is_elsewhere(strategy: StrategyLike) -> bool:
    """Tells whether the replicas of a strategy are in a cluster that works for this program."""
    return getattr(strategy, "gang", None) is not None


def strategy_of(model: Model) -> StrategyLike:
    """Returns the strategy that a model belongs to."""
    placement = placement_of(model)
    return placement.strategy if isinstance(placement, _StrategyPlacement) else get_strategy()


def take_strategy(
    compile_: Method,
    /,
    self: Model,
    *args: object,
    distribute: StrategyLike | None = None,
    experimental_steps_per_execution: int | None = None,
    experimental_run_tf_function: bool | None = None,
    **kwargs: object,
) -> None:
    """Wraps `Trainer.compile`: takes `distribute=strategy`, and obeys a scope around compile alone.

    Keras 2's `experimental_run_tf_function` is taken, and changes nothing: steps are compiled.
    """
    strategy = distribute or get_strategy()
    if not strategy.is_default:
        place_model(self, _placement(strategy))
    if experimental_steps_per_execution is not None:
        kwargs["steps_per_execution"] = experimental_steps_per_execution
    if is_dynamic(self):
        kwargs.setdefault("run_eagerly", True)
    compile_(self, *args, **kwargs)


def on_all_workers(method: Method) -> Method:
    """Wraps `fit` and its like: coordinates the workers of a loop, and tidies up after it.

    It also takes Keras 2's options for worker threads, and ignores them: the input has its own by now.
    """
    signature, is_fit = inspect.signature(method), method.__name__ == "fit"

    @functools.wraps(method)
    def loop(
        self: Model,
        *args: object,
        max_queue_size: int | None = None,
        workers: int | None = None,
        use_multiprocessing: bool | None = None,
        **kwargs: object,
    ) -> Any:
        if in_replica():
            raise RuntimeError(
                f"model.{method.__name__} was called inside a function that a strategy runs. It runs the "
                "strategy itself: call it outside."
            )
        mesh = mesh_of(self)
        make_stream()  # before the first step, which would be traced again for it
        with contextlib.ExitStack() as stack:
            stack.enter_context(reading_texts_of(self))
            strategy = strategy_of(self)
            if isinstance(strategy, ParameterServerStrategy):
                stack.enter_context(in_force(strategy))
                given = signature.bind(self, *args, **kwargs).arguments
                if is_fit and not strategy.is_local:
                    kwargs = fit_arguments(self, strategy, given)
                    args = ()
                    self = kwargs.pop("self")
            args = tuple(made(value, strategy) for value in args)
            kwargs = {name: made(value, strategy) for name, value in kwargs.items()}
            if _is_elsewhere(strategy):
                from frontends.tf.keras import _standalone_fit

                remote: Any = strategy
                part = functools.partial(_standalone_fit.remote_part, remote)
                args, kwargs = tuple(map(part, args)), {k: part(v) for k, v in kwargs.items()}
                stack.enter_context(in_force(strategy))
                _standalone_fit.build(
                    self, signature.bind(self, *args, **kwargs).arguments.get("x")
                )
            elif mesh is not None and spans_processes(mesh):
                args = tuple(_own_part(value, mesh) for value in args)
                kwargs = {name: _own_part(value, mesh) for name, value in kwargs.items()}
                given = signature.bind(self, *args, **kwargs).arguments
                stack.callback(ON_ALL_WORKERS.reset, ON_ALL_WORKERS.set(True))
                if is_fit:
                    stack.enter_context(one_writer(given.get("callbacks")))
            if is_fit:
                stack.enter_context(giving_sigterm_back(self))
            try:
                return method(self, *args, **kwargs)
            except NEEDS_VALUE as error:
                raise not_allowed(error) from None
            except Exception as error:
                shorten_traceback(error)
                raise

    # The watchdog reports the function that a process is in: the user's call, not this wrapper.
    named: Any = loop
    named.__code__ = named.__code__.replace(co_qualname=f"Model.{method.__name__}")
    return named


def _own_part(value: _T, mesh: Mesh) -> _T | Dataset:
    """Divides a dataset whose options say that each process has files of its own."""
    return distributed(value, mesh) if isinstance(value, Dataset) and divides_data(value) else value
