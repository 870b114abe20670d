"""Keras 3 state in a step, on Keras's JAX backend. Touches Keras internals, as does trainer.py.

Keras's own support for replicas is TensorFlow's. Here its objects get it from the engine: optimizers sum
gradients, seed generators give every replica other numbers, metrics, losses and batch normalization leave
padding out. A variable that a step uses without having found it is an error. Internals, which
tests/spmd/integrations/keras/test_adapter.py runs on every supported version: `Variable._value`, `.value`, `.assign`
and `._aggregation`, `Layer._flatten_layers`, `._seed_generators`, `._metrics` and `._trainable`,
`LossScaleOptimizer._common_apply`, `Optimizer._overwrite_variable_with_gradient`,
`BatchNormalization._moments` and `._reduction_axes`, `SymbolicScope`, `in_stateless_scope`,
`CompileMetrics`, `JaxLayer.tracked_state` and the module's `tf`.
"""

import contextlib
import contextvars
import functools
import inspect
import operator
import types
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
from jax.core import Tracer
from keras.src.backend.common.masking import get_keras_mask, set_keras_mask
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.backend.common.symbolic_scope import SymbolicScope
from keras.src.trainers.compile_utils import CompileMetrics
from keras.src.utils import jax_layer

from spmd.errors import StateError
from spmd.integrations.keras import names
from spmd.integrations.keras.deviations import squared_deviations
from spmd.replica import (
    BlockMask,
    ReduceOp,
    all_reduce,
    current_frame,
    in_replica,
    replica_id,
    sum_gradients,
)
from spmd.state import Adapter, Kind, Watch, apply_pending, note_variable_made, overwritten

_PLAIN = (str, int, float, bool, type(None))
_VARIABLE: Any = keras.Variable
_LAYER: Any = keras.Layer
_METRIC: Any = keras.metrics.Metric
_LOSS: Any = keras.losses.Loss
_OPTIMIZER: Any = keras.optimizers.Optimizer
_LOSS_SCALE_OPTIMIZER: Any = keras.optimizers.LossScaleOptimizer
_BATCH_NORMALIZATION: Any = keras.layers.BatchNormalization
_NAMED: Any = (_LAYER, _METRIC, _OPTIMIZER, keras.random.SeedGenerator)


class KerasAdapter(Adapter):
    """How Keras layers, models, optimizers, metrics and seed generators hold state."""

    get = operator.attrgetter("_value")

    @staticmethod
    def set(variable: Any, value: Any) -> None:
        # Called in a loop written in C; Python specializes the one line.
        variable._value = value

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, _OWNED)

    def is_variable(self, thing: Any) -> bool:
        return isinstance(thing, keras.Variable)

    def variables(self, thing: Any) -> Iterable[tuple[str, Any]]:
        if isinstance(thing, keras.Variable):
            return [("", _holder(thing))]
        found = [(v.path, _holder(v)) for v in _variables(thing)]
        return [(f"[{path!r}]", v) for path, v in found if self.get(v) is not None]

    def children(self, thing: Any) -> Mapping[str, Any] | None:
        return names.children(thing) if isinstance(thing, _NAMED) else None

    def kind(self, variable: Any) -> Kind:
        if variable.aggregation == "mean":
            return Kind.MEAN
        if variable.aggregation == "sum" and variable.synchronization == "on_read":
            return Kind.SUM
        return Kind.MIRRORED

    @contextlib.contextmanager
    def lifted(self, things: Sequence[Any], variables: Sequence[Any]) -> Generator[None]:
        token = _LIFTED.set(frozenset(map(id, variables)))
        try:
            yield
        finally:
            _LIFTED.reset(token)

    def building(self, things: Sequence[Any]) -> contextlib.AbstractContextManager[Any] | None:
        return None if all(map(_is_built, _parts(things))) else _creating_late()

    @contextlib.contextmanager
    def in_replica(self, things: Sequence[Any]) -> Generator[None]:
        with contextlib.ExitStack() as stack:
            for part in _parts(things):
                stack.enter_context(with_methods(part, _replica_methods(part)))
            yield

    def watch(self, things: Sequence[Any], watch: Watch) -> None:
        for part in _parts(things):
            attributes = vars(part)
            # Of Keras's own layers what people do change; of their own, every plain setting.
            own = type(part).__module__.startswith("keras.") and isinstance(part, _LAYER)
            ignored = _bookkeeping()
            for key, value in attributes.items():
                if key in _CHANGED_IN_LAYERS or (
                    not own and key not in ignored and isinstance(value, _PLAIN)
                ):
                    watch.item(attributes, key)
            for variable in _variables(part):
                watch.item(vars(variable), "_trainable")

    def explain(self, error: BaseException) -> str | None:
        return None


_OWNED = (
    keras.Variable,
    keras.Layer,
    keras.optimizers.Optimizer,
    keras.metrics.Metric,
    keras.random.SeedGenerator,
)
_CHANGED_IN_LAYERS = frozenset(
    {
        *("_trainable", "rate", "momentum", "_learning_rate", "activation"),
        *("optimizer", "_loss_tracker", "_compile_metrics"),
    }
)


# Variables that the running step has found.
_LIFTED: contextvars.ContextVar[frozenset[int]] = contextvars.ContextVar(
    "keras_lifted", default=frozenset()
)


def _check_lifted(variable: Any, verb: str) -> None:
    """Keras lets anything be read and written anywhere; in a step what was not found is an error."""
    frame = current_frame()
    if frame is None:
        apply_pending()
        return
    if frame.building or id(variable) in _LIFTED.get():
        return
    if isinstance(variable._value, jax.Array) and not isinstance(variable._value, Tracer):
        raise StateError(
            f"The step {verb} the Keras variable {variable.path!r}, which it did not find among the "
            "objects that it can reach, so its value would be frozen into the program. Make what holds "
            "it an attribute of the model (in lists and dicts, too), or use it in the step's function "
            "by name; or name it: spmd.Step(fn, mesh, state=[variable])."
        )


def _holder(variable: Any) -> Any:
    """The variable that holds the value: another library's, if a Keras variable says it stands for one."""
    return getattr(variable, "stands_for", variable)


def _guarded_value(read: Callable[[Any], Any]) -> property:
    def value(self: Any) -> Any:
        """The current value of the variable."""
        if not in_stateless_scope():
            _check_lifted(self, "reads")
        return read(self)

    return property(value)


def _guarded_assign(assign: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(assign)
    def guarded(self: Any, value: Any) -> Any:
        if not in_stateless_scope():
            _check_lifted(self, "writes")
        # Not the other variable's very array: two with one would be one source to a recording.
        new = jnp.copy(value.value) if isinstance(value, _VARIABLE) else value
        return assign(self, overwritten(self, self._value, new))

    return guarded


@functools.cache
def _bookkeeping() -> frozenset[str]:
    """What Keras notes in every model for itself, and changes when one is saved or fitted."""
    return frozenset(vars(keras.Model(name="bookkeeping")))


@contextlib.contextmanager
def _creating_late() -> Generator[None]:
    """What Keras's own shape inference runs in: variables made inside get their values after it."""
    with keras.StatelessScope(), SymbolicScope():
        yield


def _is_built(part: Any) -> bool:
    if isinstance(part, CompileMetrics):
        return part.built
    if isinstance(part, _METRIC):
        # Some make variables when they see the first values, and Keras's own remember whether they did.
        return getattr(part, "_built", bool(part.variables))
    return not isinstance(part, (keras.Layer, keras.optimizers.Optimizer)) or part.built


def _parts(things: Sequence[Any]) -> list[Any]:
    """Lists the objects in which state of Keras lives: layers in models, optimizers in optimizers."""
    found: dict[int, Any] = {}
    waiting = [thing for thing in things if not isinstance(thing, keras.Variable)]
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in found:
            continue
        found[id(part)] = part
        if isinstance(part, _LAYER):
            waiting += [*part._flatten_layers(include_self=False), *part._seed_generators]
            # Of a model, also those that it was compiled with.
            waiting += part.metrics if isinstance(part, keras.Model) else part._metrics
            # Models may have more optimizers than the one that they were compiled with.
            waiting += [
                value
                for value in vars(part).values()
                if isinstance(value, keras.optimizers.Optimizer)
            ]
        elif isinstance(part, _METRIC):
            waiting += part._metrics
        else:
            waiting.append(getattr(part, "inner_optimizer", None))
    return list(found.values())


def _variables(thing: Any) -> list[Any]:
    found: dict[int, Any] = {}
    for part in _parts([thing]):
        if isinstance(part, _BATCH_NORMALIZATION):
            for variable in part.non_trainable_variables if part.trainable else part.variables:
                if variable is not part.gamma and variable is not part.beta:
                    # TensorFlow's rule, which Keras declares for TensorFlow only.
                    variable._aggregation = "mean"
        elif isinstance(part, keras.layers.JaxLayer):
            # What a module of Linen or Haiku keeps of its rows is statistics of them.
            for variable in part.tracked_state:
                if jnp.issubdtype(variable.dtype, jnp.floating):
                    variable._aggregation = "mean"
        state = [part.state] if isinstance(part, keras.random.SeedGenerator) else part.variables
        found.update((id(variable), variable) for variable in state)
    return list(found.values())


@contextlib.contextmanager
def with_methods(thing: Any, methods: dict[str, Callable[..., Any]]) -> Generator[None]:
    """Gives one object other methods for a `with` block, and what it had of its own back afterwards.

    Args:
        thing: any object of Keras.
        methods: by name.
    """
    own = vars(thing)
    before = {name: own[name] for name in methods if name in own}
    own.update(methods)
    try:
        yield
    finally:
        for name in methods:
            del own[name]
        own.update(before)


def _replica_methods(part: Any) -> dict[str, Callable[..., Any]]:
    """Makes the methods that an object has while one replica's code runs."""
    if isinstance(part, keras.optimizers.Optimizer):
        return {"apply": functools.partial(_apply, part.apply)}
    if isinstance(part, keras.random.SeedGenerator):
        # The state stays equal on all replicas; only what is drawn from it differs.
        return {"next": functools.partial(_draw, part.next)}
    if isinstance(part, _METRIC):
        result = {"result": functools.partial(_result_of_all, part, part.result)}
        if isinstance(part, CompileMetrics):
            return result  # the metrics in it leave padding out
        return result | {"update_state": functools.partial(_update_state, part.update_state)}
    if getattr(part, "activity_regularizer", None) is not None:
        return {"activity_regularizer": functools.partial(_penalty, part.activity_regularizer)}
    return {}


# Whether gradients need no sum: an optimizer around this one has summed them, or the user said so.
_SUMMED: contextvars.ContextVar[bool] = contextvars.ContextVar("keras_summed", default=False)


def _apply(apply: Callable[..., Any], grads: Any, trainable_variables: Any = None) -> Any:
    if _SUMMED.get():
        return apply(grads, trainable_variables)
    token = _SUMMED.set(True)
    try:
        arrays = [grad if grad is None else jnp.asarray(grad) for grad in grads]
        return apply(sum_gradients(arrays), trainable_variables)
    finally:
        _SUMMED.reset(token)


def _takes_aggregation(apply_gradients: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the keyword arguments that Keras 2 has for replicas."""

    @functools.wraps(apply_gradients)
    def with_aggregation(
        self: Any,
        grads_and_vars: Any,
        skip_gradients_aggregation: bool = False,
        experimental_aggregate_gradients: bool = True,
    ) -> Any:
        aggregate = experimental_aggregate_gradients and not skip_gradients_aggregation
        token = _SUMMED.set(_SUMMED.get() or not aggregate)
        try:
            return apply_gradients(self, grads_and_vars)
        finally:
            _SUMMED.reset(token)

    return with_aggregation


def _draw(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return jax.random.fold_in(draw(*args, **kwargs), replica_id())


def _penalty(regularizer: Callable[..., Any], output: Any) -> Any:
    """Penalizes the outputs for valid rows; Keras divides by the number of all rows."""
    mask = rows_of([output])
    if mask is None:
        return regularizer(output)
    rows = mask.rows.reshape(-1, *[1] * (output.ndim - 1))
    valid = jnp.maximum(mask.rows.sum(), 1)
    return regularizer(jnp.where(rows, output, 0)) * (mask.rows.shape[0] / valid)


def _update_state(update: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        signature = inspect.signature(update)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return update(*args, **kwargs)  # the error, if it is one, is Keras's
    if "sample_weight" in signature.parameters:
        weight = bound.arguments.get("sample_weight")
        values = [value for name, value in bound.arguments.items() if name != "sample_weight"]
        mask = rows_of(values)
        masked = [value for value in values if get_keras_mask(value) is not None]
        if mask is not None and masked:
            # Keras takes no weights of rows together with a mask of what is in them.
            with contextlib.ExitStack() as stack:
                for value in masked:
                    stack.enter_context(_without_padding(value, mask))
                return update(*bound.args, **bound.kwargs)
        if mask is not None:
            bound.arguments["sample_weight"] = _weighted(mask.rows, weight, jnp.float32)
    return update(*bound.args, **bound.kwargs)


@contextlib.contextmanager
def _without_padding(value: Any, mask: BlockMask) -> Generator[None]:
    """Takes a batch's padding out of the Keras mask that a value has."""
    kept: Any = get_keras_mask(value)
    set_keras_mask(value, kept & mask.rows.reshape(-1, *[1] * (kept.ndim - 1)))
    try:
        yield
    finally:
        set_keras_mask(value, kept)


def _result_of_all(metric: Any, result: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Reads a metric in a replica: what all replicas together have seen, as outside of it."""
    adapter = KerasAdapter()
    kinds: dict[Kind, ReduceOp] = {Kind.SUM: "sum", Kind.MEAN: "mean"}
    parts = [v for v in _variables(metric) if adapter.kind(v) in kinds and v._value is not None]
    own = [variable._value for variable in parts]
    try:
        for variable in parts:
            variable._value = all_reduce(variable._value, kinds[adapter.kind(variable)])
        return result(*args, **kwargs)
    finally:
        for variable, value in zip(parts, own, strict=True):
            variable._value = value


def rows_of(values: Any) -> BlockMask | None:
    """Finds the mask of the batch that values have as many rows as.

    Args:
        values: arrays of one replica.

    Returns:
        The mask; None outside of a step, and if it is not clear.
    """
    frame = current_frame()
    leaves = [leaf for leaf in jax.tree.leaves(values) if jnp.ndim(leaf)]
    if frame is None or not frame.masks or not leaves:
        return None
    fitting = [mask for mask in frame.masks if mask.rows.shape[0] == jnp.shape(leaves[0])[0]]
    return fitting[0] if len(fitting) == 1 else None


def _weighted(rows: jax.Array, weight: Any, dtype: Any) -> jax.Array:
    valid = rows.astype(dtype)
    if weight is None:
        return valid
    weight = jnp.asarray(weight, dtype)
    if weight.ndim == 0:
        return weight * valid
    return weight * valid.reshape(-1, *[1] * (weight.ndim - 1))


def _loss_without_padding(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def of_valid_rows(self: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        mask = None if self.reduction in (None, "none") else rows_of([y_true, y_pred])
        if mask is None:
            return call(self, y_true, y_pred, sample_weight)
        if get_keras_mask(y_pred) is not None:
            # Keras divides by what its mask keeps, so the rows go into that.
            with _without_padding(y_pred, mask):
                return call(self, y_true, y_pred, sample_weight)
        losses = jax.eval_shape(
            lambda: self.call(
                jax.tree.map(lambda y: jnp.asarray(y, self.dtype), y_true),
                jax.tree.map(lambda y: jnp.asarray(y, self.dtype), y_pred),
            )
        )
        if losses.ndim == 0:
            return _mean_of_rows(
                self, mask, y_true, y_pred, call(self, y_true, y_pred, sample_weight)
            )
        weight = _weighted(mask.rows, sample_weight, losses.dtype)
        weight = weight.reshape(weight.shape + (1,) * (len(losses.shape) - weight.ndim))
        if self.reduction in ("mean", "sum_over_batch_size"):
            valid = mask.rows.sum().astype(losses.dtype)
            weight = weight * (mask.rows.shape[0] / jnp.maximum(valid, 1))
        return call(self, y_true, y_pred, jnp.broadcast_to(weight, losses.shape))

    return of_valid_rows


def _mean_of_rows(loss: Any, mask: BlockMask, y_true: Any, y_pred: Any, of_all: Any) -> Any:
    """The mean over valid rows of a loss that gives one number for a batch: it is a mean by itself."""

    def of_row(y_true: Any, y_pred: Any) -> Any:
        one = jax.tree.map(lambda row: jnp.asarray(row, loss.dtype)[None], (y_true, y_pred))
        return loss.call(*one)

    losses = jax.vmap(of_row)(y_true, y_pred)
    mean = jnp.where(mask.rows, losses, 0).sum() / jnp.maximum(mask.rows.sum(), 1)
    return jnp.where(mask.rows.all(), of_all, mean.astype(of_all.dtype))


def _moments_without_padding(moments: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(moments)
    def of_valid_rows(self: Any, inputs: Any, mask: Any) -> Any:
        synchronized = bool(getattr(self, "synchronized", False))
        rows = rows_of([inputs])
        if not in_replica() or (rows is None and not synchronized):
            if not synchronized:
                return moments(self, inputs, mask)
            self.synchronized = False  # one replica: nothing to synchronize with
            try:
                return moments(self, inputs, mask)
            finally:
                self.synchronized = True
        valid = jnp.ones(inputs.shape[:1], bool) if rows is None else rows.rows
        valid = valid.reshape(-1, *[1] * (inputs.ndim - 1))
        if mask is not None:
            valid = valid & jnp.asarray(mask, bool)[..., None]
        axes = tuple(self._reduction_axes)
        # Along what is valid or not as a whole first, so that the selection is among few sums.
        alike = tuple(axis for axis in axes if valid.shape[axis] == 1)

        def total(sums: Any) -> Any:
            summed = jnp.where(valid, sums, 0).sum(axes)
            return all_reduce(summed) if synchronized else summed

        # A replica without rows has to compute something that is a number: nothing times that is nothing.
        count = jnp.maximum(total(jnp.ones_like(inputs).sum(alike, keepdims=True)), 1)
        mean = total(inputs.sum(alike, keepdims=True)) / count
        shape = [1 if axis in axes else size for axis, size in enumerate(inputs.shape)]
        return mean, total(squared_deviations(inputs, mean.reshape(shape), alike)) / count

    return of_valid_rows


def _may_be_synchronized(make: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(make)

    @functools.wraps(make)
    def __init__(*args: Any, **kwargs: Any) -> None:
        # Keras refuses synchronized=True without TensorFlow.
        bound = signature.bind(*args, **kwargs)
        synchronized = bound.arguments.pop("synchronized", False)
        make(*bound.args, **bound.kwargs)
        args[0].synchronized = synchronized

    # Keras takes a layer's settings from its signature, without looking at what it wraps.
    vars(__init__)["__signature__"] = signature
    return __init__


def _apply_if_finite(optimizer: Any, grads: Any, trainable_variables: Any = None) -> None:
    """Applies gradients of a scaled loss; Keras writes variables in branches, where JAX cannot."""
    inner = optimizer.inner_optimizer
    weights = list(trainable_variables or optimizer._trainable_variables)
    finite = optimizer.check_finite(grads)
    scale, count = optimizer.dynamic_scale.value, optimizer.step_counter.value
    variables = [*weights, *inner.variables]
    before = [variable.value for variable in variables]
    unscaled = [
        grad
        if grad is None or optimizer._overwrite_variable_with_gradient(weight)
        else grad / scale
        for grad, weight in zip(grads, weights, strict=True)
    ]
    inner.apply(unscaled, weights)
    for variable, value in zip(variables, before, strict=True):
        variable.assign(jnp.where(finite, variable.value, value))
    grown = count == optimizer.dynamic_growth_steps - 1
    optimizer.dynamic_scale.assign(
        jnp.where(finite, jnp.where(grown, scale * 2, scale), scale * 0.5)
    )
    optimizer.step_counter.assign(jnp.where(finite & ~grown, count + 1, 0))


def _given(value: Any, shape: Any, dtype: Any) -> Any:
    del shape
    return jnp.asarray(value, dtype)


def _made_late(make: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(make)
    def __init__(
        self: Any, initializer: Any, shape: Any = None, dtype: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        frame = current_frame()
        late = frame is not None and frame.building and in_stateless_scope()
        if isinstance(initializer, jax.Array):
            # Two variables with one array would be one source to a recording.
            initializer = jnp.copy(initializer)
        # While a step makes variables Keras takes only functions that make a value (Nadam gives a number).
        if late and not callable(initializer) and not isinstance(initializer, str):
            shape, dtype = jnp.shape(initializer), dtype or getattr(initializer, "dtype", None)
            initializer = functools.partial(_given, initializer)
        make(self, initializer, shape, dtype, *args, **kwargs)
        note_variable_made()

    return __init__


def _install() -> None:
    """Gives Keras's classes what they lack, once, also if this module is imported again."""
    if hasattr(_LOSS.__call__, "__wrapped__"):
        return
    # JaxLayer asks TensorFlow, which need not be installed, whether a function of its is being traced.
    jax_layer.tf = types.SimpleNamespace(inside_function=lambda: False)
    _VARIABLE.__init__ = _made_late(_VARIABLE.__init__)
    _VARIABLE.value = _guarded_value(_VARIABLE.value.fget)
    _VARIABLE.assign = _guarded_assign(_VARIABLE.assign)
    _LOSS.__call__ = _loss_without_padding(_LOSS.__call__)
    _OPTIMIZER.apply_gradients = _takes_aggregation(_OPTIMIZER.apply_gradients)
    _LOSS_SCALE_OPTIMIZER._common_apply = _apply_if_finite
    _BATCH_NORMALIZATION.__init__ = _may_be_synchronized(_BATCH_NORMALIZATION.__init__)
    _BATCH_NORMALIZATION._moments = _moments_without_padding(_BATCH_NORMALIZATION._moments)


_install()
