"""Locks for the state of steps: which steps on different threads wait for each other.

While a step is dispatched it reads, donates and writes its variables, and while it is traced they hold
traced values. No other step may touch them meanwhile; steps that share no variable need not wait.

A *group* is a set of variables that were first found together. A variable stays in its group for as long as
a program may use it. A program holds the locks of all groups that its variables belong to, usually one.

Locks are taken in this order: `TRACING`, groups by their numbers, `LAUNCHING`. None of them is held while XLA
compiles.
"""

import contextlib
import itertools
import threading
import weakref
from collections.abc import Iterable, Sequence

from spmd.state import Kind, StateTable
from spmd.typing import LibraryVariable

# One step is traced at a time: tracing runs Python code, which threads cannot run at once anyway, and it changes
# attributes of objects that the search for state looks at.
TRACING = threading.RLock()

# Programs for several devices are enqueued on all of them in one order, or their collectives would wait for
# each other.
LAUNCHING = threading.RLock()

_NUMBERS = itertools.count(1)
_CLAIMS: "weakref.WeakSet[StateClaim]" = weakref.WeakSet()
_CHOOSING = threading.Lock()


class Group:
    """Variables that share a lock.

    Attributes:
        number: its place in the order of locks.
        lock: held by whoever uses the variables.
        ran_last: refers to whoever ran last with the lock; for `dispatch`.
    """

    __slots__ = ("lock", "number", "ran_last")

    def __init__(self, number: int) -> None:
        self.number = number
        self.lock = threading.RLock()
        self.ran_last: weakref.ref[object] | None = None


# All processes run the same steps in the same order, so steps over several processes run one at a time.
CLUSTER = Group(0)


class StateClaim:
    """The groups of some variables; they stay in their groups for as long as it lives."""

    def __init__(self, table: StateTable) -> None:
        """Puts variables that are in no group yet into new ones.

        Random streams get a group of their own: models that share nothing else may share a stream.

        Args:
            table: the variables.
        """
        self._members = table.variables  # kept alive, so that their ids stay theirs
        self._group_of: dict[int, Group] = {}
        with _CHOOSING:
            wanted = {id(variable) for variable in self._members}
            for other in _CLAIMS:
                for known in wanted & other._group_of.keys():
                    self._group_of[known] = other._group_of[known]
            made: dict[bool, Group] = {}
            for slot in table.slots:
                if id(slot.variable) not in self._group_of:
                    is_stream = slot.kind is Kind.KEY
                    if is_stream not in made:
                        made[is_stream] = Group(next(_NUMBERS))
                    self._group_of[id(slot.variable)] = made[is_stream]
            _CLAIMS.add(self)

    def groups_of(self, variables: Iterable[LibraryVariable]) -> list[Group]:
        """Lists the groups that some of the variables belong to, in the order of their locks."""
        groups = {self._group_of[id(variable)] for variable in variables}
        return sorted(groups, key=lambda group: group.number)

    def lock(self) -> contextlib.AbstractContextManager[object]:
        """Returns the lock of all the variables."""
        return lock_of(self.groups_of(self._members))


def lock_of(groups: Sequence[Group]) -> contextlib.AbstractContextManager[object]:
    """Returns a lock for several groups.

    Args:
        groups: in the order of their locks.

    Returns:
        A context manager that may be entered many times, by one thread at a time.
    """
    if len(groups) == 1:
        return groups[0].lock  # enters and leaves in C
    return _Locks(groups)


class _Locks:
    def __init__(self, groups: Sequence[Group]) -> None:
        self._locks = [group.lock for group in groups]

    def __enter__(self) -> None:
        with contextlib.ExitStack() as entered:
            for lock in self._locks:
                entered.enter_context(lock)
            entered.pop_all()  # they are left in __exit__

    def __exit__(self, *error: object) -> None:
        for lock in reversed(self._locks):
            lock.release()
