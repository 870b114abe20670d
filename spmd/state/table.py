"""Mutable state of a step: variables of any library, by kind, as a flat list of arrays.

A *variable* is an object of some library that holds an array and may change. An *adapter* knows one
library: it finds the variables in an object and reads and writes them. A *slot* is a variable that a
step lifts: its value goes into the compiled program and the new value comes out of it.

The *kind* of a slot says what its value means on several replicas (`Kind`).
"""

import contextlib
import dataclasses
import itertools
import operator
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax

from spmd.errors import StateError
from spmd.state.adapter import Adapter
from spmd.state.backing import LIFTING, backing_of, is_backed
from spmd.state.kinds import Kind
from spmd.state.observers import WRITE_OBSERVERS, overwritten
from spmd.state.registry import adapter_of, adapters
from spmd.state.roles import Role
from spmd.state.watch import Watch
from spmd.typing import LibraryVariable, Stateful, Structure


@dataclasses.dataclass(eq=False)
class Slot:
    """A variable that a step lifts.

    Attributes:
        name: where it was found, as Python writes it: `model.layers[0].kernel`.
        variable: the library's object.
        kind: what its value means on several replicas.
        adapter: reads and writes it.
        structure: structure of the value; a single array for nearly all variables.
        first: index of its first leaf in the flat list of its table.
    """

    name: str
    variable: LibraryVariable
    kind: Kind
    adapter: Adapter
    structure: Structure
    first: int = 0

    @property
    def count(self) -> int:
        """How many leaves the value has."""
        return self.structure.num_leaves

    @property
    def span(self) -> slice:
        """Its leaves in the flat list."""
        return slice(self.first, self.first + self.count)


class StateTable:
    """The variables of a step as a flat list of arrays, read and written without walking objects.

    C functions read and write variables whose value is one array, in some 0.1 microseconds each; so
    variables always hold their current value, and nobody needs a proxy to read it.
    """

    def __init__(
        self, things: Sequence[Stateful], found: Sequence[tuple[str, LibraryVariable, Adapter]]
    ) -> None:
        """Makes a table of variables (name, variable, adapter) and the objects in which they live."""
        self.things = tuple(things)
        leaf = jax.tree.structure(0)
        plain: dict[Adapter, list[Slot]] = {}
        self._nested: list[Slot] = []
        for name, variable, adapter in found:
            structure = jax.tree.structure(adapter.get(variable))
            group = plain.setdefault(adapter, []) if structure == leaf else self._nested
            group.append(Slot(name, variable, adapter.kind(variable), adapter, structure))
        self._plain = [(adapter, [s.variable for s in slots]) for adapter, slots in plain.items()]
        # While the variables are lifted, the leaves that they hold outside of the trace.
        self._outside: list[Any] = []
        self.slots = list(itertools.chain(*plain.values(), self._nested))
        self.size = 0
        for slot in self.slots:
            slot.first = self.size
            self.size += slot.count
        self.leaf_names = [
            slot.name + jax.tree_util.keystr(path)
            for slot in self.slots
            for path, _ in jax.tree_util.tree_leaves_with_path(
                jax.tree.unflatten(slot.structure, range(slot.count))
            )
        ]

    @classmethod
    def of(cls, variables: Sequence[LibraryVariable]) -> "StateTable":
        """Makes a table of variables alone, which are called by their types."""
        found = [(type(one).__name__, one, adapter_of(one)) for one in variables]
        return cls((), [(name, one, adapter) for name, one, adapter in found if adapter])

    @property
    def variables(self) -> list[LibraryVariable]:
        """The variables."""
        return [slot.variable for slot in self.slots]

    def backed(self) -> set[int]:
        """Tells which leaves belong to variables whose true values live elsewhere."""
        return {
            index
            for slot in self.slots
            if is_backed([slot.variable])
            for index in range(self.size)[slot.span]
        }

    @property
    def local(self) -> list[bool]:
        """For each leaf, whether every replica has a value of its own."""
        return [kind is Kind.LOCAL for kind in self.kinds]

    @property
    def kinds(self) -> list[Kind]:
        """The kind of the variable that each leaf belongs to."""
        return [slot.kind for slot in self.slots for _ in range(slot.count)]

    @property
    def roles(self) -> list[Role]:
        """What the variable that each leaf belongs to is to a training step; for reports."""
        found: dict[int, Role] = {}
        for adapter, things, variables in self._by_adapter():
            roles = adapter.roles(variables, things)
            found.update(zip(map(id, variables), roles, strict=True))
        return [found[id(slot.variable)] for slot in self.slots for _ in range(slot.count)]

    def read(self) -> list[Any]:
        """Reads the leaves of all variables, in the order of `slots`.

        Raises:
            StateError: the value of a variable changed its structure.
        """
        leaves: list[Any] = []
        for adapter, variables in self._plain:
            leaves.extend(map(adapter.get, variables))
        for slot in self._nested:
            value = slot.adapter.get(slot.variable)
            new, structure = jax.tree.flatten(value)
            if structure != slot.structure:
                raise StateError(
                    f"The value of {slot.name} changed its structure from {slot.structure} to "
                    f"{structure}. Keep the structure, or make a new variable and a new step."
                )
            leaves.extend(new)
        return leaves

    def holds(self, leaves: Sequence[jax.Array]) -> bool:
        """Tells whether the variables hold just these arrays, in the order of `read`, without making a list."""
        if self._nested:
            held = self.read()
            return len(held) == len(leaves) and all(map(operator.is_, held, leaves))
        if len(self._plain) == 1:
            adapter, variables = self._plain[0]
            return all(map(operator.is_, map(adapter.get, variables), leaves))
        held = itertools.chain.from_iterable(map(adapter.get, vs) for adapter, vs in self._plain)
        return all(map(operator.is_, held, leaves))

    def write(self, leaves: Sequence[jax.Array]) -> None:
        """Writes all variables, in the order of `read`."""
        if WRITE_OBSERVERS:
            for slot in self.slots:
                held = slot.adapter.get(slot.variable)
                if slot.count == 1 and held is not leaves[slot.first]:
                    for observer in list(WRITE_OBSERVERS):
                        observer.on_overwrite(slot.variable, held)
        self.put(leaves)

    def assign(self, leaves: Mapping[int, Any]) -> None:
        """Writes some leaves as code that assigns to their variables would.

        Args:
            leaves: by their index, in the order of `read`.
        """
        for slot in self.slots:
            indices = range(slot.first, slot.first + slot.count)
            if not leaves.keys().isdisjoint(indices):
                old = slot.adapter.get(slot.variable)
                pairs = zip(indices, jax.tree.leaves(old), strict=True)
                new = slot.structure.unflatten(leaves.get(index, leaf) for index, leaf in pairs)
                slot.adapter.set(slot.variable, overwritten(slot.variable, old, new))

    def put(self, leaves: Sequence[jax.Array]) -> None:
        """Writes all variables as `write` does, without telling anybody."""
        start = 0
        for adapter, variables in self._plain:
            stop = start + len(variables)
            deque(map(adapter.set, variables, leaves[start:stop]), maxlen=0)
            start = stop
        for slot in self._nested:
            slot.adapter.set(slot.variable, jax.tree.unflatten(slot.structure, leaves[slot.span]))

    def part(self, leaves: Iterable[int]) -> tuple["StateTable", list[int]]:
        """Makes a table of the variables that some leaves belong to.

        Args:
            leaves: indices in the flat list.

        Returns:
            The table, and for each of its leaves the index in this one.
        """
        wanted = set(leaves)
        spans = {id(slot.variable): range(self.size)[slot.span] for slot in self.slots}
        found = [
            (slot.name, slot.variable, slot.adapter)
            for slot in self.slots
            if wanted.intersection(spans[id(slot.variable)])
        ]
        table = StateTable(self.things, found)
        return table, [index for slot in table.slots for index in spans[id(slot.variable)]]

    @contextlib.contextmanager
    def lifted(self, leaves: Sequence[jax.Array]) -> Generator[None]:
        """Gives the variables traced values, in the order of `read`, and afterwards their own back."""
        with contextlib.ExitStack() as stack:
            if any(backing_of(variable) is not None for variable in self.variables):
                stack.enter_context(LIFTING)
            before = self.read()
            for adapter, things, variables in self._by_adapter():
                stack.enter_context(adapter.lifted(things, variables))
            stack.callback(self.put, before)
            self.put(leaves)
            stack.enter_context(self._remembering(before))
            yield

    @contextlib.contextmanager
    def _remembering(self, leaves: list[Any]) -> Generator[None]:
        before, self._outside = self._outside, leaves
        try:
            yield
        finally:
            self._outside = before

    def value_outside(self, variable: LibraryVariable) -> Any:
        """Returns what a variable holds outside of the trace that has lifted it; None if none has."""
        for slot in self.slots if self._outside else ():
            if slot.variable is variable:
                return jax.tree.unflatten(slot.structure, self._outside[slot.span])
        return None

    @contextlib.contextmanager
    def in_replica(self) -> Generator[None]:
        """Lets every adapter prepare for one replica's code."""
        with contextlib.ExitStack() as stack:
            for adapter, things, _ in self._by_adapter():
                stack.enter_context(adapter.in_replica(things))
            yield

    def watch(self, watch: Watch) -> None:
        """Watches what tracing bakes in of all objects."""
        for adapter, things, _ in self._by_adapter():
            adapter.watch(things, watch)

    def builders(
        self, *, adopts_state: bool = False
    ) -> list[contextlib.AbstractContextManager[Any]]:
        """Lists the contexts in which objects make variables that do not exist yet; see `Adapter.building`."""
        found = [
            adapter.building(things, adopts_state=adopts_state)
            for adapter, things, _ in self._by_adapter()
        ]
        return [context for context in found if context is not None]

    def _by_adapter(self) -> Iterator[tuple[Adapter, list[Any], list[Any]]]:
        for adapter in adapters():
            things = [thing for thing in self.things if adapter.owns(thing)]
            variables = [slot.variable for slot in self.slots if slot.adapter is adapter]
            if things or variables:
                yield adapter, things, variables
