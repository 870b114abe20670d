"""How the objects of one library hold state: what the engine asks of each library."""

import abc
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from spmd.state.kinds import Kind
from spmd.state.roles import Role
from spmd.state.watch import Watch
from spmd.typing import LibraryVariable, Stateful


class Group(dict[str, Any]):
    """Stateful parts that belong together by their names only: no object stands for them."""


def _nothing() -> None:
    pass


class Adapter(abc.ABC):
    """How the objects of one library hold state.

    `get` and `set` run for every variable at every step, so they should be functions written in C,
    such as the methods of a slot descriptor.
    """

    get: Callable[[Any], Any]
    set: Callable[[Any, Any], Any]

    @abc.abstractmethod
    def owns(self, thing: Stateful) -> bool:
        """Tells whether the object is of this library and may hold variables."""

    @abc.abstractmethod
    def variables(self, thing: Stateful) -> Iterable[tuple[str, LibraryVariable]]:
        """Lists the variables in an object, with their paths below it, such as `".layers[0].kernel"`."""

    @abc.abstractmethod
    def is_variable(self, thing: Stateful) -> bool:
        """Tells whether the object itself is one variable."""

    def children(self, thing: Stateful) -> Mapping[str, Any] | None:
        """Names the stateful parts of an object, by names that are the same in every run.

        A checkpoint uses these names, and expects that an object with children may make more variables
        at its first use.

        Returns:
            Objects, variables and `Group`s of such, by name; None if the paths of `variables` serve.
        """
        del thing
        return None

    @abc.abstractmethod
    def kind(self, variable: LibraryVariable) -> Kind:
        """Tells the kind of a variable."""

    def roles(
        self, variables: Sequence[LibraryVariable], things: Sequence[Stateful]
    ) -> Sequence[Role]:
        """Tells what each of some variables is to a training step.

        Args:
            variables: the variables.
            things: the objects of this library that the step reaches.
        """
        del things
        return [Role.OTHER] * len(variables)

    @abc.abstractmethod
    def lifted(self, things: Sequence[Stateful], variables: Sequence[LibraryVariable]) -> Any:
        """Returns a context manager in which traced values may be set; it undoes structure changes."""

    def building(
        self, things: Sequence[Stateful], *, adopts_state: bool = False
    ) -> contextlib.AbstractContextManager[Any] | None:
        """Returns a context in which objects make the variables of their first use; None if all exist.

        The step's function is run in it once, on shapes only; the variables must exist after it.

        Args:
            things: the objects.
            adopts_state: leave out objects that report the variables that they make (`Frame.making_state`).
        """
        del things, adopts_state
        return None

    @abc.abstractmethod
    def in_replica(self, things: Sequence[Stateful]) -> contextlib.AbstractContextManager[None]:
        """Returns a context manager around one replica's code, for what changes there."""

    def replica_attributes(
        self, things: Sequence[Stateful]
    ) -> Iterable[tuple[dict[str, Any], str]]:
        """Lists attributes of objects, as dictionary and key, that are no variables, but a replica's own.

        Where replicas run op by op, each sees what it has put there itself.
        """
        del things
        return ()

    def on_thread(self) -> Callable[[], None]:
        """Returns a function that sets the library up on another thread as it is on this one."""
        return _nothing

    @abc.abstractmethod
    def watch(self, things: Sequence[Stateful], watch: Watch) -> None:
        """Watches what tracing bakes into a program, which a change makes stale."""

    def explain(self, error: BaseException) -> str | None:
        """Says what was written and where, if the library's error means that a variable was not lifted."""
        del error
        return None
