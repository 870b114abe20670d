"""Values that stay in the processes of a gang, and what stands for them in the program that they work for."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from spmd.servers.reducers import Reduced, keep_on_workers, register_reducer
from spmd.servers.remote.shared_objects import receiving


@dataclasses.dataclass(frozen=True)
class Kept:
    """Returned by a closure, as a leaf of its result, for a value that is to stay where it is.

    Attributes:
        value: the value.
        stand_in: called in the program with what the gang calls the value; returns what stands for it there.
    """

    value: Any
    stand_in: Callable[["Reference"], Any]


class Reference(NamedTuple):
    """What a gang calls a value that it keeps.

    Attributes:
        call: number of the call whose result it was in.
        leaf: its position in the result.
    """

    call: int
    leaf: int


class RemoteObject:
    """Stands for a value that the processes of a gang keep, each its own; in a closure it is that value.

    Attributes:
        reference: what the gang calls it.
        gang: which keeps it.
    """

    gang: Any = None

    def __init__(self, reference: Reference) -> None:
        """Makes what stands for a value; a gang does."""
        self.reference = reference


def _reduce(remote: RemoteObject) -> Reduced:
    return _kept, (remote.reference,)


def _kept(reference: Reference) -> Any:
    receiver = receiving()
    assert receiver is not None
    return receiver.kept[reference]


register_reducer(RemoteObject, _reduce)
keep_on_workers(RemoteObject)
