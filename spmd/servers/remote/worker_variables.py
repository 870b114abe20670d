"""Variables in the process of a worker: copies of the coordinator's, by way of the same servers."""

from collections.abc import Sequence
from typing import Any, NoReturn

from spmd.errors import StateError
from spmd.servers.remote.errors import MadeVariablesError
from spmd.servers.store import Change
from spmd.servers.variables import ServerVariables
from spmd.typing import LibraryVariable


class WorkerVariables(ServerVariables):
    """The backing of a worker's copies.

    Updates wait for the next message to their server, which asks for the values of the next closure; and are sent
    before the worker says that its closures have run.

    Attributes:
        refused: whether a closure tried to make variables.
    """

    refused = False

    def __init__(self, stores: Sequence[Any]) -> None:
        """Takes the servers."""
        super().__init__(stores)
        self._waiting: dict[int, list[Change]] = {}
        # How many of these are of former closures, by server.
        self._former: dict[int, int] = {}
        self._has_sent = False  # updates of the closure that runs

    def begin(self) -> None:
        """Called before closures; forgets updates that could not be sent."""
        self.refused = False
        self._waiting.clear()

    def begin_closure(self) -> None:
        """Called before each closure."""
        self._former = {server: len(changes) for server, changes in self._waiting.items()}
        self._has_sent = False

    def undo(self) -> None:
        """Forgets the updates of a closure that is to run elsewhere."""
        for server, changes in self._waiting.items():
            del changes[self._former.get(server, 0) :]

    def send(self) -> None:
        """Sends updates that wait; blocks until they are applied."""
        while self._waiting:
            server, changes = self._waiting.popitem()
            self._stores[server].push(changes)

    def bind(self, variable: LibraryVariable) -> NoReturn:
        """Refuses to make a variable, which the other workers and the coordinator would lack.

        Raises:
            MadeVariablesError: the coordinator had better call the closure.
            StateError: it cannot, as updates of the closure have been sent.
        """
        if self._has_sent:
            raise StateError(
                "A function made a variable in a worker after it had updated others, so that it cannot run again where "
                "variables are made. Make variables before the coordinator schedules functions, or in a function that does "
                "not update any."
            )
        self.refused = True
        raise MadeVariablesError("A variable was made in a worker.")

    def bind_slot(
        self, variable: LibraryVariable, of: LibraryVariable, rule: str, position: int
    ) -> NoReturn:
        """Refuses to make an optimizer's slot."""
        self.bind(variable)

    def _changes_for(self, server: int) -> Sequence[Change]:
        changes = self._waiting.pop(server, ())
        if len(changes) > self._former.pop(server, 0):  # other servers are asked on other threads
            self._has_sent = True
        return changes

    def _send(self, server: int, changes: Sequence[Change]) -> None:
        self._waiting.setdefault(server, []).extend(changes)
