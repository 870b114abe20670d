"""`fit`, `evaluate` and `predict` under a strategy: where a model runs, and what it reads.

A model belongs to the strategy whose scope it was made in, as in TensorFlow. Internals of Keras that
this touches: `keras.src.trainers.data_adapters`, where Keras finds out how to read its input;
tests/frontends/tf/keras/test_fit.py runs it on every supported version.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import jax
import keras
from jax.sharding import Mesh
from keras.src.trainers import data_adapters
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.trainers.data_adapters.data_adapter_utils import class_weight_to_sample_weights

from frontends.tf.data.dataset import Dataset
from frontends.tf.distribute.auto_shard import distributed, divides_data
from frontends.tf.distribute.dataset import DistributedDataset
from frontends.tf.distribute.scope import StrategyLike, get_strategy
from frontends.tf.keras._backup import giving_sigterm_back
from frontends.tf.keras._outputs import one_writer
from frontends.tf.ops.random import STREAM
from spmd.input import agree_on_order
from spmd.integrations.keras import (
    Placement,
    mesh_of,
    place_model,
    place_models,
    share_losses,
)
from spmd.replica import in_replica
from spmd.topology import spans_processes

# Whether all processes are in a loop of Keras.
_TOGETHER: ContextVar[bool] = ContextVar("together", default=False)


def install() -> None:
    """Changes Keras; once more changes nothing."""
    place_models(lambda: _placement(get_strategy()))
    share_losses(lambda: get_strategy().num_replicas_in_sync)
    model: Any = keras.Model
    if getattr(model, "reads_datasets_of_spmd", False):
        return
    model.reads_datasets_of_spmd = True
    data_adapters.get_data_adapter = _reads_datasets(data_adapters.get_data_adapter)
    compiles = next(cls for cls in model.__mro__ if "compile" in vars(cls))
    compiles.compile = _takes_strategy(compiles.compile)
    for name in ("fit", "evaluate", "predict"):
        trainer = next(cls for cls in model.__mro__ if name in vars(cls))
        setattr(trainer, name, _on_all_workers(getattr(trainer, name)))


def _placement(strategy: StrategyLike) -> Placement:
    """Says where the models of a strategy run."""

    def run(function: Callable[..., Any], *args: Any) -> Any:
        return strategy.run(function, args=args)

    return Placement(strategy.mesh, run, [STREAM])


def _takes_strategy(compile_: Callable[..., None]) -> Callable[..., None]:
    """Makes `compile(distribute=strategy)` work, and a scope around compile alone."""

    @functools.wraps(compile_)
    def compile(
        self: Any,
        *args: Any,
        distribute: StrategyLike | None = None,
        experimental_steps_per_execution: int | None = None,
        **kwargs: Any,
    ) -> None:
        strategy = distribute or get_strategy()
        if not strategy.is_default:
            place_model(self, _placement(strategy))
        if experimental_steps_per_execution is not None:
            kwargs["steps_per_execution"] = experimental_steps_per_execution
        compile_(self, *args, **kwargs)

    return compile


def _on_all_workers(method: Callable[..., Any]) -> Callable[..., Any]:
    """Prepares what a loop of Keras needs of the other processes, and tidies up after it.

    It also takes Keras 2's options for worker threads: the input has its own by now.
    """
    signature, is_fit = inspect.signature(method), method.__name__ == "fit"

    @functools.wraps(method)
    def loop(
        self: Any,
        *args: Any,
        max_queue_size: int | None = None,
        workers: int | None = None,
        use_multiprocessing: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        del max_queue_size, workers, use_multiprocessing
        if in_replica():
            raise RuntimeError(
                f"model.{method.__name__} was called inside a function that a strategy runs. It runs the "
                "strategy itself: call it outside."
            )
        mesh = mesh_of(self)
        with contextlib.ExitStack() as stack:
            if mesh is not None and spans_processes(mesh):
                args = tuple(_own_part(value, mesh) for value in args)
                kwargs = {name: _own_part(value, mesh) for name, value in kwargs.items()}
                given = signature.bind(self, *args, **kwargs).arguments
                stack.callback(_TOGETHER.reset, _TOGETHER.set(True))
                if is_fit:
                    stack.enter_context(one_writer(given.get("callbacks")))
            if is_fit:
                stack.enter_context(giving_sigterm_back(self))
            return method(self, *args, **kwargs)

    # What the watchdog says a process is in: else the name of something that is called here.
    named: Any = loop
    named.__code__ = named.__code__.replace(co_qualname=f"Model.{method.__name__}")
    return named


def _own_part(value: Any, mesh: Mesh) -> Any:
    """Divides a dataset whose options say that each process has files of its own."""
    return distributed(value, mesh) if isinstance(value, Dataset) and divides_data(value) else value


def _reads_datasets(find: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(find)
    def get_data_adapter(
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        batch_size: int | None = None,
        steps_per_epoch: int | None = None,
        shuffle: Any = False,
        class_weight: Any = None,
    ) -> Any:
        if not isinstance(x, (Dataset, DistributedDataset)):
            return find(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None:
                raise ValueError(
                    f"`{name}` was given together with a dataset. Expected: elements of the dataset that "
                    "are (x, y) or (x, y, sample_weight). Write "
                    "tf.data.Dataset.from_tensor_slices((x, y)).batch(size)."
                )
        return DatasetAdapter(x, class_weight)

    return get_data_adapter


class DatasetAdapter(DataAdapter):
    """How Keras's loops read a `tf.data` dataset of ours; every epoch is a new pass."""

    def __init__(self, dataset: Any, class_weight: dict[int, float] | None = None) -> None:
        """Makes the adapter; reads nothing.

        Its attribute `position` tells what the order of the latest pass depends on.

        Args:
            dataset: gives batches.
            class_weight: of each class, if the elements have targets and no weights.
        """
        self._dataset = dataset
        self._class_weight = class_weight
        self._resume: dict[str, Any] | None = None
        self.position = self.next_position

    def get_numpy_iterator(self) -> Iterator[Any]:
        """Iterates over the batches."""
        elements = iter(self._dataset)
        if self._resume is not None:
            elements.set_state(self._resume)
            self._resume = None
        self.position = elements.get_state()["position"]
        if _TOGETHER.get() and isinstance(self._dataset, Dataset):  # else the engine compares
            agree_on_order("keras/order", self.position, self.num_batches)
        for element in elements:
            yield element if self._class_weight is None else self._weighted(element)

    @property
    def next_position(self) -> Any:
        """What the order of the next pass depends on, in JSON's types."""
        return self._dataset.position()

    def resume_at(self, position: Any, batches: int) -> None:
        """Lets the next pass go on in an earlier one.

        Args:
            position: `position` at that time: what its order depends on.
            batches: how many were read of it.
        """
        self._resume = {"position": position, "batches": batches}

    get_jax_iterator = get_numpy_iterator

    def _weighted(self, element: Any) -> Any:
        if not isinstance(element, tuple) or len(element) != 2:
            raise ValueError(
                "class_weight needs elements (x, y), without weights of their own, but the dataset's are "
                f"{jax.tree.map(lambda _: '*', element)}. Leave class_weight out, or the weights."
            )
        x, y = element
        return x, y, class_weight_to_sample_weights(y, self._class_weight)

    @property
    def num_batches(self) -> int | None:
        """How many batches a pass has; None if that is not known, or there is no end."""
        try:
            return len(self._dataset)
        except TypeError:
            return None

    @property
    def batch_size(self) -> int | None:
        """Rows of a batch: not known."""
        return None

    @property
    def has_partial_batch(self) -> bool | None:
        """Whether the last batch has fewer rows: not known."""
        return None

    @property
    def partial_batch_size(self) -> int | None:
        """Rows of the last batch: not known."""
        return None
