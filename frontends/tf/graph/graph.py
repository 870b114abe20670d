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
from frontends.tf._typing import Nested
from frontends.tf.graph.operation import Operation
from frontends.tf.graph.variable_store import VariableStore
from spmd import _jax_internals
from spmd.assigned import assigned
from spmd.state import Recorder, discover, recording

_CURRENT: "contextvars.ContextVar[Graph | None]" = contextvars.ContextVar("tf_graph", default=None)
# The graph that hooks find; they build nothing.
_SESSION: "contextvars.ContextVar[Graph | None]" = contextvars.ContextVar(
    "tf_session", default=None
)
# Whether what operations change now is to be changed, as a traced number; None means yes.
_CONDITION: "contextvars.ContextVar[Any]" = contextvars.ContextVar("tf_condition", default=None)

# What the names of tensors that only collections have begin with.
_COLLECTION = "collection "


class Graph:
    """Names, collections and deferred operations of one trace; there is no graph of tensors: the trace computes them.

    Attributes:
        store: variables and optimizers, which other graphs have too.
        collections: lists by name, such as `"losses"`.
        used: names of the variables that this graph has asked for.
        scopes: how often each variable scope was opened, from which default names of scopes follow.
        partitioned: names of the variables that TensorFlow would make in parts.
        tensors: named tensors, by name with the output's number, such as `"loss:0"`.
        given: the names of tensors that the model function has chosen.
        tape: records what gradients are asked of; None outside of training.
        loss_reduction: how the last loss of `tf.losses` was reduced, which tells an optimizer whether replicas' losses
            are to be added up or averaged; None without one.
        scales_loss: whether optimizers divide a loss that is no sum by the number of replicas, as under an estimator.
        is_saved: whether the store's variables are all that is saved, as under an estimator.
        starts: variables that start with other values than their own, by name, with what reads these.
        copies: variables that start with the values that others start with: pairs of these two.
        label_checks: what a step is to check of its labels.
        kept: what objects that may outlive the graph, such as optimizers, have made for it.
        trace: the trace of JAX that builds it.

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
        self.scales_loss = self.is_saved = False
        self.collections: dict[str, list[Any]] = collections.defaultdict(list)
        self.used: set[str] = set()
        self.partitioned: set[str] = set()
        self.scopes: collections.Counter[str] = collections.Counter()
        self.tensors: dict[str, Any] = {}
        self.given: list[str] = []
        self.loss_reduction: str | None = None
        self.starts: dict[str, tuple[Any, Callable[[], Any]]] = {}
        self.copies: list[tuple[Any, Any]] = []
        self.label_checks: list[Any] = []
        self.kept: dict[Any, Any] = {}
        # By the id of a tensor, which is kept with it: what runs when it is fetched.
        self._operations: dict[int, tuple[Any, Operation]] = {}
        # Likewise: what computes it from the state alone.
        self._values: dict[int, tuple[Any, Callable[[], Any]]] = {}
        # By the id of what a variable held when it was read, which is kept with it.
        self._reads: dict[int, tuple[Any, Any]] = {}
        # By the id of a tensor, which `tensors` keeps: its first name.
        self._names_of: dict[int, str] = {}
        self._names: collections.Counter[str] = collections.Counter()
        self._dependencies: list[tuple[Any, ...]] = []
        self.trace: object = _jax_internals.trace_state()
        # What variables hold after these, as far as that was asked, and in which trace.
        self._after: tuple[Any, dict[int, Any]] | None = None

    def unique_name(self, name: str) -> str:
        """Returns a name that no other operation or layer of the graph has: `dense`, `dense_1`, ...

        As in TensorFlow, names that differ in their case alone are one.
        """
        key = name.lower()
        count = self._names[key]
        self._names[key] += 1
        if not count:
            return name
        while f"{key}_{count}" in self._names:
            count += 1
        self._names[f"{key}_{count}"] = 1
        return f"{name}_{count}"

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

    def keep_value(self, tensor: object) -> None:
        """Notes how to compute a tensor later, if it follows from the state alone; called before the trace has ended."""
        if isinstance(tensor, Tracer) and id(tensor) not in self._values:
            compute = _jax_internals.recomputation(tensor, self._source)
            if compute is not None:
                self._values[id(tensor)] = tensor, compute

    def _source(self, tensor: object) -> Callable[[], Any] | None:
        """Returns what computes a tensor of the state alone, if it is a variable's value or was noted; see `with_value`."""
        if id(tensor) in self._values:
            return self._values[id(tensor)][1]
        return self._reads[id(tensor)][1].value if id(tensor) in self._reads else None

    def has_value(self, tensor: object) -> bool:
        """Tells whether a tensor is one of the state alone; see `with_value` and `keep_value`."""
        return id(tensor) in self._values

    def value_of(self, tensor: object) -> Any:
        """Computes a tensor of the state alone, as the state is now; what no step computes is returned as it is.

        Raises:
            ValueError: only a step can compute it.
        """
        found = self._values.get(id(tensor))
        if found is not None:
            return found[1]()
        if isinstance(tensor, Tracer):
            raise ValueError(
                f"{tensor} is computed from a batch, so it has no value after all of them. Compute it from variables and from "
                "values of metrics, such as tf.metrics.mean(x)[0]."
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
            self._note(f"{unique}:0", tensor)
            self.given.append(f"{unique}:0")
        return tensor

    def note(self, made: Any, name: str, *, is_given: bool) -> None:
        """Notes the names of what an operation has made, and that it runs after what `tf.control_dependencies` names.

        Args:
            made: a tensor, or a structure of tensors, whose names differ in their numbers.
            name: of the operation, with its scopes; made unique.
            is_given: whether the model function has chosen it.
        """
        if self.trace != _jax_internals.trace_state():
            return  # in a loop or a branch, whose tensors nobody can fetch
        operation: Operation | None = None
        for index, tensor in enumerate(nest.flatten(made)):
            if not isinstance(tensor, jax.Array) or (not is_given and id(tensor) in self._names_of):
                continue
            if operation is None:
                operation = Operation(self.unique_name(name), None, self._controls())
            full = f"{operation.name}:{index}"
            self._note(full, tensor)
            if is_given:
                self.given.append(full)
            if operation.inputs and id(tensor) not in self._operations:
                self._operations[id(tensor)] = tensor, operation

    def _note(self, name: str, tensor: jax.Array) -> None:
        self.tensors[name] = tensor
        self._names_of.setdefault(id(tensor), name)

    def name_of(self, tensor: jax.Array) -> str:
        """Returns a tensor's name, such as `"loss:0"`; gives it one if it has none."""
        if id(tensor) not in self._names_of:
            self._note(f"{self.unique_name('Tensor')}:0", tensor)
        return self._names_of[id(tensor)]

    def fetchable_name_of(self, tensor: Any) -> str | None:
        """Returns what `fetchable` finds a tensor by; None if it has no name and is in no collection."""
        found = self._names_of.get(id(tensor))
        if found is not None:
            return found
        for key, items in self.collections.items():
            for index, item in enumerate(items):
                if item is tensor:
                    return f"{_COLLECTION}{index} {key}"
        return None

    def has_tensor(self, name: str) -> bool:
        """Tells whether `fetchable` finds a name."""
        return name in self.tensors or name.startswith(_COLLECTION)

    def fetchable(self, name: str) -> Any:
        """Returns a tensor by its name, or by its place in a collection."""
        if not name.startswith(_COLLECTION):
            return self.tensors[name]
        index, _, key = name.removeprefix(_COLLECTION).partition(" ")
        return self.collections[key][int(index)]

    def operation_of(self, fetched: object) -> Operation | None:
        """Returns what runs when something is fetched, apart from what it is computed from."""
        if isinstance(fetched, Operation):
            return fetched
        found = self._operations.get(id(fetched))
        return None if found is None else found[1]

    def run(self, fetches: Nested) -> None:
        """Runs the operations of a structure; see `operations_of`."""
        self.apply(self.operations_of(fetches))

    def apply(
        self, operations: Iterable[Operation], condition: jax.Array | bool | None = None
    ) -> None:
        """Runs operations as they are given. Their effects see no graph: what they assign is assigned at once.

        Args:
            operations: in their order.
            condition: whether they change anything, known when the step runs; None always.
        """
        for operation in operations:
            # What changes the state now must not be put off once more.
            with assigned(_CURRENT, None), assigned(_CONDITION, condition):
                operation.apply()

    def operations_of(self, fetches: Nested) -> list[Operation]:
        """Lists what runs when a structure of operations and tensors is fetched, each once, after those before it.

        A tensor is computed from others, whose operations run, too.
        """
        found: dict[int, Operation] = {}
        begun: set[int] = set()
        seen: dict[int, Any] = {}

        def visit(fetched: Any) -> None:
            if not isinstance(fetched, Operation):
                for tensor in [*_jax_internals.computed_from([fetched], seen=seen)] or [fetched]:
                    operation = self.operation_of(tensor)
                    if operation is not None:
                        visit(operation)
                return
            if id(fetched) not in begun:
                begun.add(id(fetched))
                for each in fetched.inputs:
                    visit(each)
                found[id(fetched)] = fetched

        for leaf in nest.flatten(fetches):
            visit(leaf)
        return list(found.values())

    def value_after(self, variable: Any, value: Any) -> Any:
        """Returns what a variable holds after what `tf.control_dependencies` names, where it is read below that.

        What comes before is traced for that; unless it is fetched, only its part in this value is computed.

        Args:
            variable: a `tf.Variable`.
            value: what it holds now.
        """
        if isinstance(value, Tracer):
            self._reads[id(value)] = value, variable
        if not self._controls():
            return value
        if self._after is None or self._after[0] != _jax_internals.trace_state():
            self._after = _jax_internals.trace_state(), self._values_after()
        return self._after[1].get(id(variable), value)

    def _values_after(self) -> dict[int, Any]:
        """Runs the operations of the blocks around, and undoes it; returns what has changed, by the id of the variable."""
        # They may change variables that are not in the store.
        effects = [(one.name, one.effect) for one in self.operations_of(self._controls())]
        table, _ = discover(_nothing, [("store", self.store), *effects])
        before = table.read()
        # What is undone is nothing to send to parameter servers.
        with table.lifted(before), recording(Recorder({}, predicts=True)):
            self.run(self._controls())
            after = table.read()
        variables = [slot.variable for slot in table.slots for _ in range(slot.count)]
        found = zip(variables, before, after, strict=True)
        return {id(variable): new for variable, old, new in found if new is not old}

    @contextlib.contextmanager
    def controlled(self, inputs: Any) -> Generator[None]:
        """Has the operations that are made in a block run after others; `tf.control_dependencies`."""
        if inputs is None:  # not after those of the blocks around, either
            around, self._dependencies = self._dependencies, []
        else:
            around, self._dependencies = self._dependencies, [*self._dependencies, tuple(inputs)]
        after, self._after = self._after, None
        try:
            yield
        finally:
            self._dependencies, self._after = around, after

    def _controls(self) -> tuple[Any, ...]:
        return tuple(one for some in self._dependencies for one in some)

    def operation_named_after(self, name: str) -> Operation:
        """Returns what stands for the operation that made a tensor or a variable of a name."""
        tensor = self.tensors.get(name)
        return Operation(name.partition(":")[0], None, () if tensor is None else (tensor,))

    def get_operation_by_name(self, name: str) -> Operation:
        """Returns the operation of a name, which stands for its tensors.

        Raises:
            KeyError: there is none.
        """
        self.get_tensor_by_name(f"{name}:0")
        return self.operation_named_after(f"{name}:0")

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

        def name(item: Any) -> str:
            return self._names_of.get(id(item)) or getattr(item, "name", "")

        return [one for one in items if pattern.match(name(one))]

    @contextlib.contextmanager
    def as_default(self) -> Generator["Graph"]:
        """Makes it the graph of a block."""
        with assigned(_CURRENT, self):
            yield self

    def in_session(self) -> contextlib.AbstractContextManager[Any]:
        """Has code of a block find what the graph holds, such as `tf.train.get_global_step()`, while it runs at once."""
        return assigned(_SESSION, self)


def _nothing() -> None:
    """A function that reaches no variables."""


_DEFAULT = Graph()


def current_graph() -> Graph | None:
    """Returns the graph that is being built; None outside of model functions, where code runs at once."""
    return _CURRENT.get()


def condition() -> Any:
    """Returns whether variables are to be changed now, which only the running step knows; None where they are."""
    return _CONDITION.get()


def nearest_graph() -> Graph | None:
    """Returns the graph that is being built, or that of the steps around which hooks run; None elsewhere."""
    return _CURRENT.get() or _SESSION.get()


def default_graph() -> Graph:
    """Returns the graph that is being built, or that of the steps around which hooks run, or that of the program."""
    return nearest_graph() or _DEFAULT
