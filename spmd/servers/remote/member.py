"""What runs in a process of a gang: closures, which all processes of the gang call together, in the same order."""

import dataclasses
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import jax
import ray
from ray.actor import exit_actor

from spmd.cluster import initialize, shared_seed
from spmd.cluster import shutdown as leave_cluster
from spmd.servers.remote.actors import dump_error
from spmd.servers.remote.errors import MadeVariablesError
from spmd.servers.remote.gang_variables import GangVariables
from spmd.servers.remote.kept import Kept, Reference
from spmd.servers.remote.nodes import print_to_task, tell_of_program
from spmd.servers.remote.printing import Printed, Printout
from spmd.servers.remote.shared_objects import Package, Receiver, dumps, receiving_by
from spmd.state import adapters, register_backing
from spmd.topology import leave_out_absent_accelerators, make_mesh, num_replicas

_OUTPUT_SECONDS = 10.0
# Threads of a process, by what they serve beside the calls.
GROUPS = {"output": 1}


@dataclasses.dataclass
class Message:
    """A call of a gang.

    Attributes:
        number: of the call.
        attempt: how many errors the program had seen when it sent this; a process that has failed since then skips it.
        released: values that need not be kept any longer.
        package: closures; the last one is the call, those before it prepare it.
        replies: processes whose result is wanted.
    """

    number: int
    attempt: int
    released: list[Reference]
    package: Package
    replies: Sequence[int]


@dataclasses.dataclass
class Reply:
    """What came of a call.

    Attributes:
        result: pickled, with `Placeholder`s for what is kept; None if there is none, or if it is not wanted.
        error: pickled, and its traceback; None if the closure has returned.
        made_variables: whether it did not run since it would have made variables.
        skipped: whether it did not run since an earlier one failed.
        earlier: the error of that one, if it was not that it made variables.
        printed: how many characters were printed so far.
    """

    result: bytes | None = None
    error: tuple[bytes, str] | None = None
    made_variables: bool = False
    skipped: bool = False
    earlier: tuple[bytes, str] | None = None
    printed: int = 0

    @property
    def failure(self) -> tuple[bytes, str] | None:
        """The error of this call, or of the one for which it was skipped."""
        return self.error or self.earlier


@dataclasses.dataclass(frozen=True)
class Placeholder:
    """Stands in a result for a value that is kept.

    Attributes:
        reference: what it is called.
        stand_in: makes what stands for it in the program.
    """

    reference: Reference
    stand_in: Callable[[Reference], Any]


class MemberActor:
    """Calls closures, one after the other, together with the other processes of the gang."""

    def address(self) -> str:
        """Returns an address of this machine that nobody listens at."""
        host = ray.util.get_node_ip_address()
        with socket.socket() as free:
            free.bind((host, 0))
            return f"{host}:{free.getsockname()[1]}"

    def set_up(self, addresses: Sequence[str], index: int, names: Sequence[str]) -> int:
        """Joins the other processes, and waits for them; returns the number of replicas.

        Args:
            addresses: of all processes.
            index: of this one.
            names: of the tasks that they run in.
        """
        tell_of_program()
        print_to_task()
        self._index = index
        self._printout = Printout()
        if index == 0:  # all print the same
            sys.stdout, sys.stderr = self._printout.stream(1), self._printout.stream(2)
        leave_out_absent_accelerators()
        initialize(addresses, index, names=names)
        shared_seed()
        mesh = make_mesh()
        self._receiver = Receiver(mesh, GangVariables(lambda closure: closure()))
        self._failed = -1
        self._error: tuple[bytes, str] | None = None
        self._refused = self._refuses = False
        register_backing(lambda: self._refuse if self._refuses else None, slots=True)
        for adapter in adapters():
            adapter.on_thread()()
        return num_replicas(mesh)

    def run(self, message: Message) -> Reply:
        """Calls the closures of a message."""
        reply = Reply()
        try:
            for reference in message.released:
                self._receiver.kept.pop(reference, None)
            *preparing, closure = self._receiver.unpack(message.package)
            with receiving_by(self._receiver):
                for prepare in preparing:
                    prepare()
                if self._failed >= message.attempt:
                    reply.skipped, reply.earlier = True, self._error
                    return reply
                self._refuses, self._refused = True, False
                result = closure()
                if self._refused:
                    raise MadeVariablesError
                result = self._keep(result, message.number)
            if self._index in message.replies:
                reply.result = dumps(result)
        except BaseException as error:
            self._failed = message.attempt
            reply.made_variables = self._refused
            reply.error = dump_error(error), traceback.format_exc()
            self._error = None if self._refused else reply.error
        finally:
            self._refuses = False
        reply.printed = self._printout.count
        return reply

    @ray.method(concurrency_group="output")
    def output(self) -> list[Printed]:
        """Returns what was printed; waits a while until there is something."""
        return self._printout.take(_OUTPUT_SECONDS)

    def leave(self) -> None:
        """Ends this process together with the others, once all have called this."""
        jax.effects_barrier()
        leave_cluster()
        self._printout.close()
        exit_actor()

    def _keep(self, result: Any, call: int) -> Any:
        leaves, structure = jax.tree.flatten(result, is_leaf=_is_kept)
        for position, leaf in enumerate(leaves):
            if _is_kept(leaf):
                reference = Reference(call, position)
                self._receiver.kept[reference] = leaf.value
                leaves[position] = Placeholder(reference, leaf.stand_in)
        return structure.unflatten(leaves)

    def _refuse(self, variable: Any) -> None:
        self._refused = True
        raise MadeVariablesError("A variable was made in a process of a gang.")


def _is_kept(leaf: object) -> bool:
    return isinstance(leaf, Kept)
