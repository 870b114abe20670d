"""`fit`, `evaluate` and `predict` of a Keras model, on all replicas of a mesh.

Keras's loops, callbacks and histories stay Keras's own. What its loops call for each batch is a step of
the engine: the batch is split over the replicas, and the model's state stays in its variables, where
callbacks find it. A loss is a replica's share of the loss of the whole batch, so that the sum over
replicas, also of the gradients, is what one device computes, whatever the number of rows.

Internals of Keras, which tests/spmd/integrations/keras/test_trainer.py runs on every supported version: the methods
of `JAXTrainer` that `_install` replaces, what its loops do with the state that they are given, and
`Model._loss_tracker` and `._call_has_training_arg`.
"""

import dataclasses
import functools
import inspect
import itertools
import operator
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax.sharding import Mesh

from spmd.cluster import SharedDraws
from spmd.input import BatchPlacer
from spmd.integrations.keras.losses import (
    additional_loss_as_share,
    loss_as_share,
    own_loss_as_share,
    sharing,
    unshared,
)
from spmd.replica import PerReplica, TracedPerReplica, all_reduce
from spmd.step import Step, are_alike, for_each, gather, run
from spmd.topology import spans_processes

_MODEL: Any = keras.Model
_LOSS: Any = keras.losses.Loss
_TRAINER: Any = next(cls for cls in _MODEL.__mro__ if cls.__name__ == "JAXTrainer")


@dataclasses.dataclass(frozen=True)
class Placement:
    """Where a model's batches run.

    Attributes:
        mesh: the devices, one replica each.
        run: calls a function in every replica, inside of a step; a front end puts its own around it.
        state: more objects with state that steps may reach.
    """

    mesh: Mesh
    run: Callable[..., Any] = run
    state: Sequence[Any] = ()


_PLACEMENTS: weakref.WeakKeyDictionary[Any, Placement] = weakref.WeakKeyDictionary()
_DEFAULT: list[Callable[[], Placement | None]] = [lambda: None]


def distribute_model(model: Any, mesh: Mesh) -> Any:
    """Makes `fit`, `evaluate` and `predict` of a Keras model run on all replicas of a mesh.

    Args:
        model: a `keras.Model`, compiled or not.
        mesh: the devices.

    Returns:
        The model.

    Examples:
        >>> import keras, numpy as np, spmd
        >>> from spmd.integrations.keras.trainer import distribute_model
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model = distribute_model(model, spmd.make_mesh(["cpu:0", "cpu:1"]))
        >>> model.compile("sgd", "mse")
        >>> x = np.ones((5, 3), np.float32)
        >>> history = model.fit(x, x[:, :1], batch_size=4, verbose=0)
        >>> list(history.history), model.predict(x, verbose=0).shape
        (['loss'], (5, 1))

    Source: `tf.distribute.Strategy.scope`, around a Keras model.
    """
    place_model(model, Placement(mesh))
    return model


def place_model(model: Any, placement: Placement) -> None:
    """Says where a model's batches run from now on.

    Args:
        model: a `keras.Model`.
        placement: where.
    """
    _PLACEMENTS[model] = placement
    model.train_function = model.test_function = model.predict_function = None


def mesh_of(model: Any) -> Mesh | None:
    """Returns the devices that a model runs on; None if it is Keras's own affair.

    Args:
        model: a Keras model.
    """
    placement = _PLACEMENTS.get(model)
    return None if placement is None else placement.mesh


def place_models(default: Callable[[], Placement | None]) -> None:
    """Says where models go that are made from now on.

    Args:
        default: called for each new model; None leaves it to Keras.
    """
    _DEFAULT[0] = default


# ---- What a replica does with its rows.


def _train_rows(model: Any, data: Any) -> Any:
    """Keras's own training step, for the rows of one replica."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
    if model.optimizer is None:
        loss, y_pred = _loss_of_rows(model, x, y, sample_weight, training=True)
    else:
        trainable = model.trainable_variables
        gradients_of = jax.value_and_grad(
            functools.partial(model.compute_loss_and_updates, training=True), has_aux=True
        )
        (_, aux), gradients = gradients_of(
            _values(trainable),
            _values(model.non_trainable_variables),
            _values(model.metrics_variables),
            x,
            y,
            sample_weight,
            optimizer_variables=_values(model.optimizer.variables),
        )
        loss, y_pred = _take_updates(model, aux)
        model.optimizer.apply(gradients, trainable)
    return _logs_of_rows(model, loss, x, y, y_pred, sample_weight)


def _test_rows(model: Any, data: Any) -> Any:
    """Keras's own evaluation step, for the rows of one replica."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
    loss, y_pred = _loss_of_rows(model, x, y, sample_weight, training=False)
    return _logs_of_rows(model, loss, x, y, y_pred, sample_weight)


def _predict_rows(model: Any, data: Any) -> Any:
    """Keras's own prediction step, for the rows of one replica."""
    x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
    return model(x, training=False) if model._call_has_training_arg else model(x)


def _loss_of_rows(
    model: Any, x: Any, y: Any, sample_weight: Any, training: bool
) -> tuple[Any, Any]:
    _, aux = model.compute_loss_and_updates(
        _values(model.trainable_variables),
        _values(model.non_trainable_variables),
        _values(model.metrics_variables),
        x,
        y,
        sample_weight,
        training=training,
        optimizer_variables=_values(model.optimizer.variables if model.optimizer else []),
    )
    return _take_updates(model, aux)


def _take_updates(model: Any, aux: Any) -> tuple[Any, Any]:
    loss, y_pred, others, metrics = aux
    _assign(model.non_trainable_variables, others)
    _assign(model.metrics_variables, metrics)
    return loss, y_pred


def _values(variables: Sequence[Any]) -> list[Any]:
    return [variable.value for variable in variables]


def _assign(variables: Sequence[Any], values: Sequence[Any]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _logs_of_rows(
    model: Any, loss: Any, x: Any, y: Any, y_pred: Any, sample_weight: Any
) -> dict[str, Any]:
    rows = jnp.shape(next(iter(jax.tree.leaves(x))))[0]
    model._loss_tracker.update_state(loss, sample_weight=rows)
    return model.compute_metrics(x, y, y_pred, sample_weight)


# ---- What Keras's loops call for a batch.


class _BatchFunction:
    """What Keras's loop calls with its state and an iterator: runs the next batches as steps."""

    def __init__(
        self,
        model: Any,
        method: str,
        of_batch: Callable[[Any], Any],
        of_results: Callable[[list[Any]], Any],
        eager: Callable[[Any], Any],
        *,
        in_loop: bool,
    ) -> None:
        """Makes the function; compiles nothing yet.

        Args:
            model: the model.
            method: the name of its step, for messages.
            of_batch: what is done with a batch, between the replicas.
            of_results: makes one result of those of several batches.
            eager: what is done with a batch if the model runs eagerly.
            in_loop: whether the result for the last of several batches is the result of all.
        """
        placement = _PLACEMENTS[model]
        of_batch.__name__ = f"{method} of {model.name}"
        # A model that only predicts need not be compiled.
        things = [model, getattr(model, "optimizer", None), *model.metrics, *placement.state]
        self._mesh = placement.mesh
        self._of_results = of_results
        self._in_loop = in_loop
        self._eager = eager if model.run_eagerly else None
        self._at_once = model.steps_per_execution
        state = [thing for thing in things if thing is not None]
        self._step = Step(of_batch, placement.mesh, state=state, per_replica=False)

        def of_batches(*batches: Any) -> Any:
            return jax.tree.map(lambda results: results[-1], for_each(of_batch, batches))

        of_batches.__name__ = of_batch.__name__
        self._steps = Step(of_batches, placement.mesh, state=state, per_replica=False)
        self.start()

    def start(self) -> None:
        """Prepares for other data: its first batch tells how many rows a full one has."""
        self._placer = BatchPlacer(self._mesh, None)
        self._draws = SharedDraws() if spans_processes(self._mesh) else None

    def __call__(self, state: Any, iterator: Iterator[Any]) -> tuple[Any, Any]:
        """Runs the next batches, as one program if there are as many as the model wants at once.

        Args:
            state: what `_get_jax_state` gave.
            iterator: over host batches.

        Returns:
            The result, and the state.

        Raises:
            StopIteration: there is no batch.
        """
        batches = list(itertools.islice(self._placed(iterator), self._at_once))
        if not batches:
            raise StopIteration
        if self._eager is not None:
            with unshared():
                results = list(map(self._eager, batches))
        elif self._in_loop and len(batches) == self._at_once > 1 and are_alike(batches):
            results = [self._steps(*batches)]
        else:
            results = list(map(self._step, batches))
        return self._of_results(results), state

    def _placed(self, iterator: Iterator[Any]) -> Iterator[Any]:
        for data in iterator if self._draws is None else self._draws.read(iterator):
            placed = self._eager is not None or _is_distributed(data)
            if not placed:
                data = self._placer.place(data, x64=bool(jax.enable_x64.value))
            if data is not None:  # a batch without rows
                yield data


def _is_traced(leaf: Any) -> bool:
    return isinstance(leaf, TracedPerReplica)


def _is_distributed(data: Any) -> bool:
    return any(isinstance(leaf, PerReplica) for leaf in jax.tree.leaves(data))


def _make(model: Any, attribute: str, make: Callable[[], _BatchFunction], force: bool) -> None:
    function = getattr(model, attribute)
    if function is None or force or not isinstance(function, _BatchFunction):
        setattr(model, attribute, make())
    else:
        function.start()


def _with_metrics(model: Any, method: str) -> _BatchFunction:
    """Makes the function of fit or evaluate, whose results are logs."""
    placement, own = _PLACEMENTS[model], _is_own(model, method)

    def of_rows(data: Any) -> Any:
        with sharing(model):
            logs = _call(model, method, data)
        return _as_one(jax.tree.map(jnp.asarray, logs)) if own else logs

    def of_batch(data: Any) -> Any:
        logs = placement.run(of_rows, data)
        if own:
            return jax.tree.map(lambda log: log.block, logs, is_leaf=_is_traced)
        # Outside of the replicas the metrics are whole already.
        return model.get_metrics_result()

    return _BatchFunction(
        model,
        method,
        of_batch,
        operator.itemgetter(-1),
        functools.partial(_call, model, method),
        in_loop=True,
    )


def _predicting(model: Any) -> _BatchFunction:
    placement = _PLACEMENTS[model]

    def of_rows(data: Any) -> Any:
        return _call(model, "predict_step", data)

    def of_batch(data: Any) -> Any:
        return placement.run(of_rows, data)

    def of_results(results: list[Any]) -> Any:
        return jax.tree.map(lambda *values: _Rows(values), *results)

    return _BatchFunction(model, "predict_step", of_batch, of_results, of_rows, in_loop=False)


class _Rows:
    """Predicted rows, which wait on the devices until somebody asks for them."""

    def __init__(self, values: Sequence[Any]) -> None:
        """Takes the results of several batches.

        Args:
            values: arrays or per-replica values, whose first axis counts rows.
        """
        self._values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        parts = [np.asarray(part) for value in self._values for part in _parts(value)]
        return np.asarray(np.concatenate(parts), dtype)


def _parts(value: Any) -> Sequence[Any]:
    if not isinstance(value, PerReplica):
        return [value]
    # Every process gets all rows, in their order.
    return [gather(value)] if spans_processes(value.mesh) else value.values


def _call(model: Any, method: str, data: Any) -> Any:
    """Calls a model's step as its class wrote it: with a batch, or with state, as Keras on JAX does."""
    step = getattr(model, method)
    if not _is_own(model, method) or len(inspect.signature(step).parameters) == 1:
        return step(data)
    variables = [model.trainable_variables, model.non_trainable_variables]
    if method == "train_step":
        variables.append(model.optimizer.variables)
    if method != "predict_step":
        variables.append(model.metrics_variables)
    state = tuple(map(_values, variables))
    result, state = step(state, data)
    for group, values in zip(variables, state, strict=True):
        _assign(group, values)
    return result


def _is_own(model: Any, method: str) -> bool:
    return getattr(type(model), method) is not getattr(_MODEL, method)


def _as_one(logs: Any) -> Any:
    """What the logs of a step that a person wrote are: sums over replicas, as in TensorFlow.

    The result of a metric is the same on all of them, and is it.
    """
    low, high, total = (all_reduce(logs, op) for op in ("min", "max", "sum"))
    return jax.tree.map(
        lambda low, high, total: jnp.where(low == high, low, total), low, high, total
    )


# ---- Keras's trainer.


def _made(attribute: str, make: Callable[[Any], _BatchFunction]) -> Callable[..., Any]:
    def replace(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def make_function(self: Any, force: bool = False) -> Any:
            if self not in _PLACEMENTS:
                return original(self, force)
            _make(self, attribute, functools.partial(make, self), force)
            return None

        return make_function

    return replace


def _placed(make: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(make)
    def __init__(self: Any) -> None:
        make(self)
        placement = _DEFAULT[0]()
        if placement is not None:
            _PLACEMENTS[self] = placement

    return __init__


def _of_rows(of_rows: Callable[..., Any]) -> Callable[..., Any]:
    def replace(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def step(self: Any, data: Any, *rest: Any) -> Any:
            if rest:
                return original(self, data, *rest)
            with sharing(self):
                return of_rows(self, data)

        return step

    return replace


def _state_in_variables(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def _get_jax_state(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self not in _PLACEMENTS:
            return original(self, *args, **kwargs)
        wanted = [name for name, value in kwargs.items() if value and name.endswith("_variables")]
        return tuple([] for name in wanted if name != "purge_model_variables")

    return _get_jax_state


def _built_if_possible(build: Callable[..., None]) -> Callable[..., None]:
    # A model that has a step of its own may have no call, as a GAN: the step makes its variables.
    @functools.wraps(build)
    def _symbolic_build(self: Any, *args: Any, **kwargs: Any) -> None:
        if self not in _PLACEMENTS:
            build(self, *args, **kwargs)
        elif type(self).call is not _MODEL.call:
            with warnings.catch_warnings():
                # It looks at host batches, whose 64-bit numbers the engine narrows and checks later.
                warnings.filterwarnings("ignore", message="Explicitly requested dtype")
                build(self, *args, **kwargs)

    return _symbolic_build


_REPLACED: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "__init__": _placed,
    "train_step": _of_rows(_train_rows),
    "test_step": _of_rows(_test_rows),
    "predict_step": _of_rows(_predict_rows),
    "make_train_function": _made(
        "train_function", functools.partial(_with_metrics, method="train_step")
    ),
    "make_test_function": _made(
        "test_function", functools.partial(_with_metrics, method="test_step")
    ),
    "make_predict_function": _made("predict_function", _predicting),
    "_get_jax_state": _state_in_variables,
    "_symbolic_build": _built_if_possible,
    "_aggregate_additional_loss": additional_loss_as_share,
    "_compute_loss": own_loss_as_share,
}


def _install() -> None:
    """Lets Keras's trainer run placed models here, once, also if this module is imported again."""
    if getattr(_TRAINER, "runs_in_spmd", False):
        return
    _TRAINER.runs_in_spmd = True
    # keras_adapter, which is imported above, has changed Keras by now: its losses leave padding out.
    for name, replace in _REPLACED.items():
        setattr(_TRAINER, name, replace(getattr(_TRAINER, name)))
    _LOSS.__call__ = loss_as_share(_LOSS.__call__)


_install()
