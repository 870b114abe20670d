"""Keras 3 state in a step, on Keras's JAX backend.

Keras supports replicas on TensorFlow only. Here the engine does: optimizers sum gradients, seed generators give
every replica numbers of its own, metrics, losses and batch normalization leave padding out. A variable that a step
uses without having found it is an error.

Touches Keras internals, which tests/spmd/integrations/keras/test_adapter.py runs on every supported version:
`Variable._value` and `._trainable`, `global_state`, and the attributes in `_LOSSES` and `_CHANGED_IN_LAYERS`.
"""

import contextlib
import copy
import functools
import operator
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

import keras
from keras.src.backend.common import global_state

from spmd.integrations.keras import names
from spmd.integrations.keras.methods import replica_methods, with_attributes
from spmd.integrations.keras.parts import (
    is_built,
    kind_of,
    parts_of,
    roles_of,
    variables_of,
)
from spmd.integrations.keras.recurrent import replica_rows
from spmd.integrations.keras.storage import storage_of
from spmd.integrations.keras.typing import KerasObject, Variable
from spmd.integrations.keras.variables import deferring, lifting
from spmd.state import Adapter, Kind, Role, Watch
from spmd.typing import ArrayLike, LibraryVariable

_PLAIN = (str, int, float, bool, type(None))
_LAYER: Any = keras.Layer
_OTHERS: Any = (keras.metrics.Metric, keras.optimizers.Optimizer, keras.random.SeedGenerator)
_NAMED: Any = (_LAYER, *_OTHERS)
# What people change in Keras's own layers.
_CHANGED_IN_LAYERS = frozenset(
    {
        *("_trainable", "rate", "momentum", "_learning_rate", "activation"),
        *("optimizer", "_loss_tracker", "_compile_metrics"),
    }
)


class KerasAdapter(Adapter):
    """How Keras layers, models, optimizers, metrics and seed generators hold state."""

    get = operator.attrgetter("_value")

    @staticmethod
    def set(variable: Variable, value: ArrayLike) -> None:
        # Called in a loop written in C; Python specializes the one line.
        variable._value = value

    def owns(self, thing: object) -> bool:
        return isinstance(thing, (keras.Variable, *_NAMED))

    def is_variable(self, thing: object) -> bool:
        return isinstance(thing, keras.Variable)

    def variables(self, thing: KerasObject) -> Iterable[tuple[str, LibraryVariable]]:
        if isinstance(thing, keras.Variable):
            return [("", storage_of(thing))]
        found = [(v.path, storage_of(v)) for v in variables_of(thing)]
        return [(f"[{path!r}]", v) for path, v in found if self.get(v) is not None]

    def children(self, thing: KerasObject) -> Mapping[str, KerasObject] | None:
        return names.children(thing) if isinstance(thing, _NAMED) else None

    def kind(self, variable: Variable) -> Kind:
        return kind_of(variable)

    def roles(self, variables: Sequence[Variable], things: Sequence[KerasObject]) -> Sequence[Role]:
        return roles_of(variables, things)

    def lifted(
        self, things: Sequence[KerasObject], variables: Sequence[Variable]
    ) -> contextlib.AbstractContextManager[object]:
        return lifting(variables)

    def building(
        self, things: Sequence[KerasObject], *, adopts_state: bool = False
    ) -> contextlib.AbstractContextManager[None] | None:
        unbuilt = [part for part in parts_of(things) if not is_built(part)]
        if adopts_state:  # `build_in_step` reports what optimizers make
            unbuilt = [part for part in unbuilt if not isinstance(part, keras.optimizers.Optimizer)]
        return deferring() if unbuilt else None

    @contextlib.contextmanager
    def in_replica(self, things: Sequence[KerasObject]) -> Generator[None]:
        with contextlib.ExitStack() as stack:
            for part in parts_of(things):
                stack.enter_context(with_attributes(part, replica_methods(part)))
                for owner, attributes in replica_rows(part):
                    stack.enter_context(with_attributes(owner, attributes))
            yield

    def replica_attributes(
        self, things: Sequence[KerasObject]
    ) -> Iterable[tuple[dict[str, Any], str]]:
        for part in parts_of(things):
            for name in _LOSSES.intersection(vars(part)):
                yield vars(part), name

    def on_thread(self) -> Callable[[], None]:
        # Scopes, the policy for types and the seed of the program, each the thread's own.
        trackers = [global_state.GLOBAL_STATE_TRACKER, global_state.GLOBAL_SETTINGS_TRACKER]
        found = [_copied(vars(tracker)) for tracker in trackers]  # now: this thread goes on

        def set_up() -> None:
            for tracker, attributes in zip(trackers, found, strict=True):
                vars(tracker).update(_copied(attributes))

        return set_up

    def watch(self, things: Sequence[KerasObject], watch: Watch) -> None:
        for part in parts_of(things):
            attributes = vars(part)
            # Of Keras's own layers what people do change; of their own, every plain setting.
            own = type(part).__module__.startswith("keras.") and isinstance(part, _LAYER)
            ignored = _bookkeeping()
            for key, value in attributes.items():
                if key in _CHANGED_IN_LAYERS or (
                    not own and key not in ignored and isinstance(value, _PLAIN)
                ):
                    watch.item(attributes, key)
            for variable in variables_of(part):
                watch.item(vars(variable), "_trainable")


# Where a layer keeps the losses of its last call.
_LOSSES = frozenset({"_losses", "_loss_ids", "_losses_override"})


@functools.cache
def _bookkeeping() -> frozenset[str]:
    """The attributes that Keras keeps in every model, and changes when one is saved or fitted."""
    return frozenset(vars(keras.Model(name="bookkeeping")))


def _copied(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Copies Keras's state of a thread, but for the variables that the thread is about to initialize."""
    return {
        name: copy.copy(value) if isinstance(value, (list, dict)) else value
        for name, value in attributes.items()
        if name != "uninitialized_variables"
    }
