"""Variables in the process of a worker: copies of the coordinator's, by way of the same servers."""

from collections.abc import Sequence
from typing import Any, NoReturn

from spmd.servers.remote.errors import MadeVariablesError
from spmd.servers.store import Array, Change, Key
from spmd.servers.variables import ServerVariables
from spmd.typing import LibraryVariable


class WorkerVariables(ServerVariables):
    """The backing of a worker's copies.

    Between closures that the worker got at once, updates and the values for the next closure go in one exchange. These
    closures were scheduled before the first of them ran, so that any of these values is recent enough for them.

    Attributes:
        refused: whether a closure tried to make variables.
        is_last: whether no closure follows that would need values.
    """

    refused = False
    is_last = False

    def __init__(self, stores: Sequence[Any]) -> None:
        """Takes the servers."""
        super().__init__(stores)
        # What steps read since `begin`, by server; and what exchanges brought that none has read yet.
        self._read: dict[int, set[Key]] = {}
        self._versions: dict[Key, int] = {}
        self._brought: dict[int, dict[Key, tuple[int, Array]]] = {}

    def begin(self) -> None:
        """Called before closures that came at once: forgets values, which others may have updated."""
        self.refused = False
        self._read.clear()
        self._brought.clear()

    def bind(self, variable: LibraryVariable) -> NoReturn:
        """Refuses to make a variable, which the other workers and the coordinator would lack."""
        self.refused = True
        raise MadeVariablesError("A variable was made in a worker.")

    def bind_slot(
        self, variable: LibraryVariable, of: LibraryVariable, rule: str, position: int
    ) -> NoReturn:
        """Refuses to make an optimizer's slot."""
        self.bind(variable)

    def _pull(self, server: int, versions: dict[Key, int]) -> dict[Key, tuple[int, Array]]:
        brought = self._brought.get(server, {})
        known = self._read.setdefault(server, set())
        found = {key: brought.pop(key) for key in versions if key in brought}
        missing = {key: version for key, version in versions.items() if key not in known}
        if missing:
            found |= super()._pull(server, missing)
        known.update(versions)
        self._versions |= versions
        self._versions |= {key: version for key, (version, _) in found.items()}
        return found

    def _send(self, server: int, changes: Sequence[Change]) -> None:
        read = self._read.get(server)
        if self.is_last or not read:
            # What was read is stale now.
            self._read.pop(server, None)
            super()._send(server, changes)
            return
        brought = self._brought.setdefault(server, {})
        versions = {key: brought[key][0] if key in brought else self._versions[key] for key in read}
        brought |= self._stores[server].exchange(changes, versions)
