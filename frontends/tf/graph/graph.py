"""What one call of a model function builds, and what is fetched of it."""

import collections
import contextlib
import contextvars
import re
from collections.abc import Callable, Generator, Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf import nest
from frontends.tf.graph.operation import Operation
from frontends.tf.graph.variable_store import VariableStore
from spmd.assigned import assigned

_CURRENT: "contextvars.ContextVar[Graph | None]" = contextvars.ContextVar("tf_graph", default=None)


class Graph:
    """Names, collections and deferred operations of one trace; there is no graph of tensors: the trace computes them.

    Attributes:
        store: variables and optimizers, which other graphs have too.
        collections: lists by name, such as `"losses"`.
        used: names of the variables that this graph has asked for.
        scopes: how often each variable scope was opened, from which default names of scopes follow.
        tensors: named tensors, by name with the output's number, such as `"loss:0"`.
        tape: records what gradients are asked of; None outside of training.
        loss_reduction: how the last loss of `tf.losses` was reduced, which tells an optimizer whether replicas' losses
            are to be added up or averaged; None without one.
        scales_loss: whether optimizers divide a loss that is no sum by the number of replicas, as under an estimator.
        kept: what objects that may outlive the graph, such as optimizers, have made for it.

    Source: `tf.Graph`.
    """

    def __init__(self, store: VariableStore | None = None, tape: Any = None) -> None:
        """Makes an empty graph.

        Args:
            store: of the variables; None for one of its own.
            tape: see `Graph`.
        """
        self.store = VariableStore() if store is None else store
        self.tape = tape
        self.scales_loss = False
        self.collections: dict[str, list[Any]] = collections.defaultdict(list)
        self.used: set[str] = set()
        self.scopes: collections.Counter[str] = collections.Counter()
        self.tensors: dict[str, Any] = {}
        self.loss_reduction: str | None = None
        self.kept: dict[Any, Any] = {}
        # By the id of a tensor, which is kept with it: what runs when it is fetched.
        self._operations: dict[int, tuple[Any, Operation]] = {}
        # Likewise: what computes it from the state alone.
        self._values: dict[int, tuple[Any, Callable[[], Any]]] = {}
        self._names: collections.Counter[str] = collections.Counter()
        self._dependencies: list[tuple[Any, ...]] = []

    def unique_name(self, name: str) -> str:
        """Returns a name that no other operation or layer of the graph has: `dense`, `dense_1`, ..."""
        count = self._names[name]
        self._names[name] += 1
        return self.unique_name(f"{name}_{count}") if count else name

    def variable(
        self, name: str, make: Callable[[str], Any], collections: Iterable[str] | None = None
    ) -> Any:
        """Returns the variable of a name, which the graph makes unique; makes it if no graph of the store did.

        Args:
            name: with its scopes.
            make: called with the unique name.
            collections: to add it to; None means those of all variables, and of those that are trained.
        """
        full = self.unique_name(name)
        while full in self.used:
            full = self.unique_name(name)
        variables = self.store.variables
        if full not in variables:
            variables[full] = make(full)
        variable = variables[full]
        self.used.add(full)
        keys = ["variables"] if collections is None else list(collections)
        if "local_variables" in keys:
            self.store.local.add(full)
        elif variable.trainable:
            keys.append("trainable_variables")
        for key in dict.fromkeys(keys):
            self.collections[key].append(variable)
        return variable

    def operation(
        self, name: str, effect: Callable[[], Any] | None = None, inputs: Iterable[Any] = ()
    ) -> Operation:
        """Makes an operation, which runs after those that `tf.control_dependencies` names.

        Args:
            name: made unique.
            effect: changes the state.
            inputs: what else runs before.
        """
        return Operation(self.unique_name(name), effect, (*inputs, *self._controls()))

    def with_effect(self, tensor: jax.Array, operation: Operation) -> jax.Array:
        """Has an operation run when a tensor is fetched; returns the tensor, which is another one than before."""
        tensor = jnp.copy(tensor)
        self._operations[id(tensor)] = tensor, operation
        return tensor

    def with_value(self, tensor: jax.Array, compute: Callable[[], Any]) -> jax.Array:
        """Notes how to compute a tensor of the state alone later, such as a metric's value after many batches.

        Args:
            tensor: its value in this trace.
            compute: reads variables as they are then; called outside of the step.

        Returns:
            The tensor, which is another one than before.
        """
        tensor = jnp.copy(tensor)
        self._values[id(tensor)] = tensor, compute
        return tensor

    def value_of(self, tensor: Any) -> Any:
        """Computes a tensor of the state alone, as the state is now; what no step computes is returned as it is.

        Raises:
            ValueError: only a step can compute it.
        """
        found = self._values.get(id(tensor))
        if found is not None:
            return found[1]()
        if isinstance(tensor, Tracer):
            raise ValueError(
                f"{tensor} is computed from a batch, so it has no value after all of them. Take the value of a metric, such "
                "as tf.metrics.mean(x)[0]."
            )
        return tensor

    def named(self, tensor: jax.Array, name: str | None) -> jax.Array:
        """Notes a tensor's name, and has it run after what `tf.control_dependencies` names, if anything."""
        unique = None if name is None else self.unique_name(name)
        if self._controls():
            tensor = self.with_effect(
                tensor, Operation(unique or "identity", None, self._controls())
            )
        if unique is not None:
            self.tensors[f"{unique}:0"] = tensor
        return tensor

    def operation_of(self, fetched: Any) -> Operation | None:
        """Returns what runs when something is fetched."""
        if isinstance(fetched, Operation):
            return fetched
        found = self._operations.get(id(fetched))
        return None if found is None else found[1]

    def run(self, fetches: Any) -> None:
        """Runs the operations of a structure of operations and tensors, each once, after those before it.

        Their effects see no graph: what they assign is assigned at once.
        """
        done: set[int] = set()

        def run(fetched: Any) -> None:
            operation = self.operation_of(fetched)
            if operation is None or id(operation) in done:
                return
            done.add(id(operation))
            for each in operation.inputs:
                run(each)
            # What changes the state now must not be put off once more.
            with assigned(_CURRENT, None):
                operation.apply()

        for leaf in nest.flatten(fetches):
            run(leaf)

    @contextlib.contextmanager
    def controlled(self, inputs: Any) -> Generator[None]:
        """Has the operations that are made in a block run after others; `tf.control_dependencies`."""
        self._dependencies.append(tuple(inputs or ()))
        try:
            yield
        finally:
            self._dependencies.pop()

    def _controls(self) -> tuple[Any, ...]:
        return tuple(one for some in self._dependencies for one in some)

    def get_tensor_by_name(self, name: str) -> Any:
        """Returns a tensor by its name, such as `"loss:0"`; a variable has its name, too.

        Raises:
            KeyError: there is none.
        """
        if name in self.tensors:
            return self.tensors[name]
        variable = self.store.variables.get(name.removesuffix(":0"))
        if variable is None:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. Name it in the model function: "
                f'tf.identity(x, name="{name.partition(":")[0]}").'
            )
        return variable

    def get_collection(self, key: str, scope: str | None = None) -> list[Any]:
        """Lists a collection: what has a name that begins as `scope` says, a regular expression."""
        items = list(self.collections[key])
        if scope is None:
            return items
        pattern = re.compile(scope)
        names = {id(tensor): name for name, tensor in self.tensors.items()}
        return [one for one in items if pattern.match(getattr(one, "name", names.get(id(one), "")))]

    @contextlib.contextmanager
    def as_default(self) -> Generator["Graph"]:
        """Makes it the graph of a block."""
        with assigned(_CURRENT, self):
            yield self


_DEFAULT = Graph()


def current_graph() -> Graph | None:
    """Returns the graph that is being built; None outside of model functions, where code runs at once."""
    return _CURRENT.get()


def default_graph() -> Graph:
    """Returns the graph that is being built, or that of the program."""
    return _CURRENT.get() or _DEFAULT
