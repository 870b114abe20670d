"""`fit`, `evaluate` and `predict` of a program whose steps run in a cluster: Keras's loop is here, each batch there.

Internals of Keras that this touches: `_symbolic_build` and what it looks at, `_flatten_layers`, `_compile_metrics` and
`_compile_loss`; tests/frontends/tf/distribute/standalone runs them.

A dataset is read by the workers: what Keras's loop gets here in place of a batch only says which pass it is of. Batches
of arrays, generators and other sources are read here, and sent. Logs are fetched when somebody looks at them, so
that steps follow each other without waiting.
"""

import collections
import contextlib
import functools
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import keras
import numpy as np
from keras.src.trainers.data_adapters.data_adapter import DataAdapter

from frontends.tf._typing import Nested
from frontends.tf.data.constants import INFINITE_CARDINALITY
from frontends.tf.data.dataset import Dataset
from frontends.tf.data.spec import TensorSpec
from frontends.tf.distribute.auto_shard import distributed, divides_data
from frontends.tf.distribute.dataset import DistributedDataset
from frontends.tf.distribute.standalone.strategy import StandaloneStrategy
from frontends.tf.distribute.standalone.values import RemoteDataset
from frontends.tf.distribute.values import PerReplicaSpec
from frontends.tf.dtypes import jax_dtype
from frontends.tf.keras._dataset_adapter import ON_ALL_WORKERS, DatasetAdapter
from spmd.integrations.keras import Batch, Model
from spmd.servers.remote import Kept, Pending, RemoteObject
from spmd.typing import Json, PyTree

_LOOPS = ("train", "test", "predict")
# How many calls the workers may have before them.
_AHEAD = 8
# In place of a batch: the number of the pass that the workers are to take it from.
_PASS = "jaxtribute pass"
_NUMBERS = itertools.count()
_PASSES: "weakref.WeakValueDictionary[int, _Pass]" = weakref.WeakValueDictionary()


class RemoteLoop:
    """What Keras's loop calls for a batch: has the workers run it."""

    def __init__(self, strategy: StandaloneStrategy, name: str, model: Model) -> None:
        """Makes the function of a loop.

        Args:
            strategy: the model's.
            name: `"train"`, `"test"` or `"predict"`.
            model: the model.
        """
        self._strategy, self._name, self._model = strategy, name, model
        self._running: collections.deque[Pending] = collections.deque()
        if not any(getattr(model, f"{each}_function") for each in _LOOPS):
            strategy.gang.reset()  # the workers may have the model as it was before it was compiled
        self.start()

    def start(self) -> None:
        """Prepares for other data."""
        self._running.clear()
        self._strategy.begin(_start, self._model, self._name)

    def __call__(self, state: PyTree, iterator: Iterator[Batch]) -> tuple[PyTree, PyTree]:
        """Has the workers run the next batches; waits only for what must be known here."""
        batches = list(itertools.islice(iterator, self._model.steps_per_execution))
        if not batches:
            raise StopIteration
        waits = self._name == "predict"
        if isinstance(batches[0], dict) and _PASS in batches[0]:
            source = _PASSES[int(batches[0][_PASS])]
            pending = self._strategy.begin(_run, self._model, self._name, source.elements)
            waits = waits or source.may_end
        else:
            pending = self._strategy.begin(_run, self._model, self._name, _Batches(batches))
        if waits:
            there_is_one, result = pending.result()
            if not there_is_one:
                raise StopIteration
            return result, state
        self._running.append(pending)
        if len(self._running) > _AHEAD:
            self._running.popleft().result()
        return _Logs(pending.result), state


class _Batches:
    """Batches that were read by the program; an iterator there."""

    def __init__(self, batches: list[Batch]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Batch]:
        return iter(self._batches)


class _Logs(dict[str, Any]):
    """Logs of a batch, which are waited for when somebody looks at them."""

    def __init__(self, outcome: Callable[[], tuple[bool, Mapping[str, Any]]]) -> None:
        super().__init__()
        self._outcome = outcome

    @functools.cached_property
    def _logs(self) -> Mapping[str, Any]:
        return self._outcome()[1]

    def __getitem__(self, key: str) -> Any:
        return self._logs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._logs)

    def __len__(self) -> int:
        return len(self._logs)

    def __contains__(self, key: object) -> bool:
        return key in self._logs

    def __repr__(self) -> str:
        return repr(self._logs)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a log."""
        return self._logs.get(key, default)

    def keys(self) -> Any:
        """Returns the names."""
        return self._logs.keys()

    def values(self) -> Any:
        """Returns the values."""
        return self._logs.values()

    def items(self) -> Any:
        """Returns names and values."""
        return self._logs.items()

    def copy(self) -> dict[str, Any]:
        """Returns the logs as a dictionary."""
        return dict(self._logs)


class _Pass:
    """One reading of a dataset by the workers.

    Attributes:
        elements: the workers' iterators.
        may_end: whether only they know when it ends.
    """

    def __init__(self, elements: RemoteObject, *, may_end: bool) -> None:
        self.elements, self.may_end = elements, may_end


class RemoteSource:
    """A dataset that the workers read, as an argument of Keras's loops.

    Attributes:
        builds: whether Keras's loop, inside of the cluster, would begin with a pass to build the model, after which
            shuffles go on.
    """

    def __init__(self, strategy: StandaloneStrategy, dataset: Dataset | RemoteDataset) -> None:
        """Takes a dataset; sends nothing yet."""
        self._strategy, self._dataset = strategy, dataset
        self.builds = False

    @property
    def symbolic_batch(self) -> Nested:
        """A batch for building a model."""
        return jax.tree.map(_symbolic, self._dataset.element_spec, is_leaf=_is_spec)

    def make_adapter(self, class_weight: dict[int, float] | None) -> "RemoteAdapter":
        """Makes what Keras's loop reads."""
        adapter = RemoteAdapter(self._strategy, self._dataset, class_weight)
        if self.builds:
            adapter.skip_pass()
            self.builds = False
        return adapter


class RemoteAdapter(DataAdapter):
    """Stands for a dataset that the workers read; every epoch is a new pass."""

    batch_size: Any = None
    has_partial_batch: Any = None
    partial_batch_size: Any = None

    def __init__(
        self,
        strategy: StandaloneStrategy,
        dataset: Dataset | RemoteDataset,
        class_weight: dict[int, float] | None,
    ) -> None:
        """Has the workers make adapters of theirs; see `DatasetAdapter`."""
        self._strategy = strategy
        found = strategy.there(_adapt, (strategy, dataset, class_weight), {})
        self._remote, self._count, self._is_endless = found
        self._passes: collections.deque[_Pass] = collections.deque(maxlen=2)

    def get_numpy_iterator(self) -> Iterator[Any]:
        """Starts a pass; its elements only say which one it is."""
        elements = self._strategy.there(_begin_pass, (self._remote,), {})
        may_end = self._count is None and not self._is_endless
        number, source = next(_NUMBERS), _Pass(elements, may_end=may_end)
        self._passes.append(source)
        _PASSES[number] = source
        count = itertools.count() if self._count is None else range(self._count)
        return ({_PASS: np.int32(number)} for _ in count)

    get_jax_iterator = get_numpy_iterator

    @property
    def num_batches(self) -> int | None:
        """The number of batches in a pass; None if unknown or infinite."""
        return self._count

    @property
    def position(self) -> Json:
        """What the order of the latest pass depends on; see `DatasetAdapter`."""
        return self._strategy.there(getattr, (self._remote, "position"), {})

    @property
    def next_position(self) -> Json:
        """What the order of the next pass depends on."""
        return self._strategy.there(getattr, (self._remote, "next_position"), {})

    def skip_pass(self) -> None:
        """Has the workers begin a pass, and leave it."""
        self._strategy.there(_skip_pass, (self._remote,), {})

    def resume_at(self, position: Json, batches: int) -> None:
        """Makes the next pass continue an earlier one; see `DatasetAdapter.resume_at`."""
        self._strategy.there(_resume, (self._remote, position, batches), {})


def remote_part(strategy: StandaloneStrategy, value: Any) -> Any:
    """Has the workers read an argument of a loop that is a dataset."""
    if isinstance(value, (Dataset, RemoteDataset)):
        return RemoteSource(strategy, value)
    return value


def build(model: Model, x: Any) -> None:
    """Makes the variables of a model from the shapes of a dataset's elements, which are not read here.

    Args:
        model: the model.
        x: the first argument of a loop.
    """
    if not isinstance(x, RemoteSource):
        return
    is_compiled = bool(getattr(model, "compiled", False))
    parts = [*model._flatten_layers()]
    if is_compiled:
        parts += [one for one in (model._compile_metrics, model._compile_loss) if one is not None]
    x.builds = not all(part.built for part in parts)
    if is_compiled:
        model._symbolic_build(data_batch=x.symbolic_batch)
    elif x.builds:
        model(keras.utils.unpack_x_y_sample_weight(x.symbolic_batch)[0])


# What runs in the workers.


def _start(model: Model, name: str) -> None:
    getattr(model, f"make_{name}_function")()


def _function(model: Model, name: str) -> Any:
    if getattr(model, f"{name}_function") is None:  # the worker got the model anew
        _start(model, name)
    return getattr(model, f"{name}_function")


def _run(model: Model, name: str, batches: Any) -> tuple[bool, Any]:
    """Runs the next batches; returns whether there was one, and the result."""
    batches = iter(batches) if isinstance(batches, _Batches) else batches
    on_all_workers = ON_ALL_WORKERS.set(True)
    try:
        result, _ = _function(model, name)([], batches)
    except StopIteration:
        return False, None
    finally:
        ON_ALL_WORKERS.reset(on_all_workers)
    return True, jax.tree.map(np.asarray, result) if name == "predict" else dict(result)


def _adapt(
    strategy: Any, dataset: Dataset | DistributedDataset, class_weight: dict[int, float] | None
) -> tuple[Kept, int | None, bool]:
    """Makes a worker's adapter; returns it, how many batches a pass has, and whether it has no end."""
    if isinstance(dataset, Dataset) and divides_data(dataset):
        dataset = distributed(dataset, strategy.mesh)
    adapter = DatasetAdapter(dataset, class_weight)
    cardinality: Any = dataset.cardinality
    with contextlib.suppress(TypeError):
        cardinality = cardinality()
    return (
        Kept(adapter, RemoteObject),
        adapter.num_batches,
        int(cardinality) == INFINITE_CARDINALITY,
    )


def _begin_pass(adapter: DatasetAdapter) -> Kept:
    return Kept(adapter.get_numpy_iterator(), RemoteObject)


def _skip_pass(adapter: DatasetAdapter) -> None:
    on_all_workers = ON_ALL_WORKERS.set(True)
    try:
        next(adapter.get_numpy_iterator(), None)
    finally:
        ON_ALL_WORKERS.reset(on_all_workers)


def _resume(adapter: DatasetAdapter, position: Json, batches: int) -> None:
    adapter.resume_at(position, batches)


def _symbolic(spec: Any) -> Any:
    if isinstance(spec, PerReplicaSpec):
        spec = spec.value_specs[0]
    return keras.KerasTensor(tuple(spec.shape), np.dtype(jax_dtype(spec.dtype)).name)


def _is_spec(leaf: object) -> bool:
    return isinstance(leaf, (PerReplicaSpec, TensorSpec))
