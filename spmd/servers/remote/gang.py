"""The workers of a cluster as one: processes that join each other, and call what a program elsewhere gives them.

A *gang* has a process for each task that trains. Every closure is called in all of them, in the order in which it was
given, so that what they do together stays together. Models, functions and variables get there once, as to other
workers (`shared_objects.py`). If one process is lost, the gang is: a new one begins with what the program has.
"""

import atexit
import contextlib
import functools
import itertools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import jax
import ray
from ray.exceptions import RayActorError

from spmd.cluster import ray_address
from spmd.servers.remote.errors import ClusterError, GangLostError, MadeVariablesError
from spmd.servers.remote.gang_variables import GangVariables, write
from spmd.servers.remote.joining import join, leave_if_lost, resources_of
from spmd.servers.remote.kept import Reference, RemoteObject
from spmd.servers.remote.member import GROUPS, MemberActor, Message, Placeholder, Reply
from spmd.servers.remote.nodes import wait_for
from spmd.servers.remote.printing import Printout
from spmd.servers.remote.shared_objects import Package, Sender
from spmd.servers.remote.worker import RemoteTraceback
from spmd.state import LIFTING
from spmd.topology import local_devices, make_mesh

_REPORT_SECONDS = 30.0
_POLL_SECONDS = 1.0
# How long the other processes may take after one has failed: they often fail likewise.
_APART_SECONDS = 15.0
_GONE_SECONDS = 0.5
_LEAVE_SECONDS = 5.0
_PRINT_SECONDS = 2.0
# From this size on, a package goes to each machine by way of shared memory.
_LARGE_BYTES = 1 << 20


class Pending:
    """A call that a gang was given."""

    def __init__(self, gang: "Gang", references: Sequence[Any], attempt: int) -> None:
        self._gang, self._references, self._attempt = gang, references, attempt
        self._lock = threading.Lock()
        self._done: tuple[list[Any], BaseException | None] | None = None

    def result(self) -> Any:
        """Returns the first process's result; blocks until it has come.

        Raises:
            GangLostError: a process of the gang is gone.
            MadeVariablesError: the closure would have made variables, which only the program can do.
            Exception: what the closure raised, with the traceback of the process as its cause.
        """
        return self.results()[0]

    def results(self) -> list[Any]:
        """Returns the results that were asked for; see `result`."""
        with self._lock:
            if self._done is None:
                try:
                    self._done = self._gang.outcome(self._references, self._attempt), None
                except Exception as error:
                    self._done = [], error
                self._references = ()
        results, error = self._done
        if error is not None:
            raise error
        return results


class Gang:
    """Processes in the workers of a cluster that call closures together.

    Attributes:
        names: of the tasks, by process.
        num_replicas: how many replicas all processes have together.
        mesh: a device of this process, which stands for theirs in what is traced here.
        variables: the backing of variables that were sent.
    """

    def __init__(self, jobs: Mapping[str, Sequence[str]], source: str) -> None:
        """Starts the processes; blocks until all have joined.

        Args:
            jobs: addresses of the tasks, by job; the chief and the workers take part.
            source: where the addresses come from, for messages.

        Raises:
            ClusterError: the processes cannot join each other.
        """
        join(jobs, source, is_chief=False)
        tasks = [
            (job, index, address)
            for job in ("chief", "worker")
            for index, address in enumerate(jobs.get(job, ()))
        ]
        self.names = [f"{job} {index}" for job, index, _ in tasks]
        self._tasks = [address for _, _, address in tasks]
        self._resources = [f"{job}_{index}" for job, index, _ in tasks]
        self._actors: list[Any] = [self._process(index) for index in range(len(tasks))]
        self._lock = threading.RLock()
        self._calls = itertools.count()
        self._attempt = 0
        self._released: list[Reference] = []
        self._loss: str | None = None  # not an exception: see `Health`
        self._closed = self._interrupted = False
        addresses = self._addresses()
        actors = self._actors
        started = [
            actor.set_up.remote(addresses, index, self.names) for index, actor in enumerate(actors)
        ]
        try:
            while ray.wait(started, num_returns=len(started), timeout=_REPORT_SECONDS)[1]:
                print("Waiting for the workers to join each other ...", flush=True)
            self.num_replicas: int = ray.get(started)[0]
        except Exception as error:
            self._kill()
            raise ClusterError(f"The workers cannot join each other: {error}") from error
        self.mesh = make_mesh(local_devices()[:1])
        self.variables = GangVariables(self.call)
        self._sender = Sender(self.mesh, self.variables)
        self._known = self._sender.join()
        self._printed = Printout()
        self._printing = threading.Thread(
            target=_print_output, args=(actors[0], self._printed), daemon=True
        )
        self._printing.start()
        atexit.register(_close, weakref.ref(self))  # runs before the program leaves the cluster

    def start(
        self, closure: Callable[[], Any], replies: Sequence[int] = (0,), *, changes: bool = True
    ) -> Pending:
        """Has all processes call a closure; does not wait.

        Args:
            closure: returns a pytree; a leaf may be a `Kept`.
            replies: processes whose results are wanted.
            changes: whether the closure may write variables.

        Raises:
            GangLostError: a process of the gang is gone.
            TypeError: the closure reaches an object that cannot be copied.
        """
        # No other thread traces a step meanwhile, with other values in variables that are sent.
        with LIFTING, self._lock:
            self._check()
            written = self.variables.take_written()
            closures: list[Any] = [functools.partial(write, written)] if written else []
            package = self._sender.pack([*closures, closure], self._known)
            number = next(self._calls)
            released, self._released = self._released, []
            message: Any = Message(number, self._attempt, released, package, replies)
            if _size(package) > _LARGE_BYTES:
                message = ray.put(message)
            references = [actor.run.remote(message) for actor in self._actors]
            if changes:
                self.variables.expire()
            return Pending(self, references, self._attempt)

    def call(self, closure: Callable[[], Any]) -> Any:
        """Has all processes call a closure that writes no variables; returns the first one's result."""
        return self.start(closure, changes=False).result()

    def each(self, closure: Callable[[], Any]) -> list[Any]:
        """Has all processes call a closure that writes no variables; returns the results of all, in order."""
        return self.start(closure, range(len(self.names)), changes=False).results()

    def reset(self) -> None:
        """Has models and functions be sent anew, since variables were made in them here."""
        with LIFTING, self._lock:
            self.variables.refresh_all()
            self._sender.reset()

    def outcome(self, references: Sequence[Any], attempt: int) -> list[Any]:
        """Waits for the replies to a call; see `Pending.results`."""
        try:
            replies = self._replies(references)
        except KeyboardInterrupt:
            self._interrupted = True
            raise
        failed = next((one for one in replies if one.error is not None), None)
        if failed is not None and failed.error is not None:
            if any(one.error is None and not one.skipped for one in replies):
                self._fail_alone(dict(enumerate(replies)))
            self._note_error(attempt)
            if failed.made_variables:
                raise MadeVariablesError("A variable was made in a process of a gang.")
            dumped, text = failed.error
            raise self._sender.load(dumped) from RemoteTraceback(text)
        self._wait_for_output(replies[0].printed)
        skipped = next((one for one in replies if one.skipped), None)
        if skipped is not None:
            if skipped.earlier is None:
                raise ClusterError(
                    "The call was not made, because an earlier one had failed: its error was raised, or will be."
                )
            if not all(one.skipped for one in replies):
                self._fail_alone(dict(enumerate(replies)))
            # Where the call that failed had its result asked for, the error may be lost: Keras's callbacks do so in a thread.
            self._note_error(attempt)
            dumped, text = skipped.earlier
            raise self._sender.load(dumped) from RemoteTraceback(text)
        loaded = [self._sender.load(one.result) for one in replies if one.result is not None]
        return [
            jax.tree.map(self._stand_in, one, is_leaf=lambda leaf: isinstance(leaf, Placeholder))
            for one in loaded
        ]

    def _note_error(self, attempt: int) -> None:
        """Has later calls run again, once the program gets the error of an attempt."""
        with self._lock:
            if attempt == self._attempt:
                self._attempt += 1

    @property
    def is_usable(self) -> bool:
        """Whether all processes are there, as far as is known."""
        return self._loss is None and not self._closed

    def close(self) -> None:
        """Ends the processes; waits some seconds for them, then kills them: at once if Ctrl-C ended a call that they make."""
        with self._lock:
            if self._closed or not ray.is_initialized():
                return
            self._closed = True
        if self._loss is None and not self._interrupted:
            with contextlib.suppress(Exception):
                leaving = [actor.leave.remote() for actor in self._actors]
                _, busy = ray.wait(leaving, num_returns=len(leaving), timeout=_LEAVE_SECONDS)
                if not busy:
                    self._printing.join(_LEAVE_SECONDS)
        self._kill()

    def _stand_in(self, leaf: Any) -> Any:
        if not isinstance(leaf, Placeholder):
            return leaf
        remote: RemoteObject = leaf.stand_in(leaf.reference)
        remote.gang = self
        weakref.finalize(remote, self._released.append, leaf.reference)
        return remote

    def _check(self) -> None:
        if self._loss is not None:
            raise GangLostError(self._loss)
        if self._closed:
            raise GangLostError("The processes of this strategy were ended. Make a new strategy.")

    def _replies(self, references: Sequence[Any]) -> list[Reply]:
        waiting, replies = dict(enumerate(references)), dict[int, Reply]()
        until = None
        while waiting:
            ready, _ = ray.wait(
                list(waiting.values()), num_returns=len(waiting), timeout=_POLL_SECONDS
            )
            for index in [one for one, reference in waiting.items() if reference in ready]:
                try:
                    replies[index] = ray.get(waiting.pop(index))
                except RayActorError:
                    self._lose(index)
            if waiting and any(one.failure is not None for one in replies.values()):
                until = until or time.monotonic() + _APART_SECONDS
                if time.monotonic() > until:
                    self._fail_alone(replies)
        return [replies[index] for index in sorted(replies)]

    def _fail_alone(self, replies: Mapping[int, Reply]) -> NoReturn:
        """Ends the gang, since some processes have failed, and the others wait for them, or have other values now."""
        failed = [index for index, one in replies.items() if one.failure is not None]
        names = " and ".join(self.names[index] for index in failed)
        first = replies[failed[0]].failure
        assert first is not None
        dumped, text = first
        error = self._sender.load(dumped)
        error.add_note(f"Only {names} failed, so the processes of the strategy were ended.")
        self._loss = (
            f"The processes of this strategy were ended, because {names} failed and the others did not. Make a new strategy, "
            "and restore the last checkpoint."
        )
        self._kill()
        raise error from RemoteTraceback(text)

    def _lose(self, index: int) -> None:
        """Ends the gang, since one process is gone."""
        if self._loss is None:
            name = self.names[self._first_lost(index)]
            self._loss = (
                f"{name} is gone, and with it the values that the workers held together. Make a new strategy, which waits "
                "until all workers are there, and restore the last checkpoint."
            )
            self._kill()
            leave_if_lost()
        raise GangLostError(self._loss) from None

    def _first_lost(self, index: int) -> int:
        """Tells which process was lost first: one whose task has gone took the others along."""
        for one, address in enumerate(self._tasks if not ray_address(os.environ) else ()):
            if not wait_for(address, _GONE_SECONDS):
                return one
        return index

    def _kill(self) -> None:
        if not ray.is_initialized():
            return  # Ray would connect to some cluster to do so
        for actor in self._actors:
            with contextlib.suppress(Exception):
                ray.kill(actor)

    def _process(self, index: int) -> Any:
        options: dict[str, Any] = {
            "resources": resources_of(self._resources[index]),
            "num_cpus": 0,
            "max_restarts": 0,
        }
        remote: Any = ray.remote(concurrency_groups=GROUPS)  # pyright: ignore[reportCallIssue]
        return remote(MemberActor).options(**options).remote()

    def _addresses(self) -> list[str]:
        """Waits until all processes run, and says for whom; returns where they can listen."""
        found: dict[int, str] = {}
        asked = {index: one.address.remote() for index, one in enumerate(self._actors)}
        until = time.monotonic() + _REPORT_SECONDS
        while asked:
            ready, _ = ray.wait(list(asked.values()), num_returns=len(asked), timeout=_POLL_SECONDS)
            for index in [one for one, reference in asked.items() if reference in ready]:
                try:
                    found[index] = ray.get(asked.pop(index))
                except RayActorError:
                    # Ray takes a node that was lost for one that is there, for a while.
                    self._actors[index] = self._process(index)
                    asked[index] = self._actors[index].address.remote()
            if asked and time.monotonic() > until:
                until += _REPORT_SECONDS
                print(f"Waiting for {', '.join(self.names[i] for i in asked)} ...", flush=True)
        return [found[index] for index in sorted(found)]

    def _wait_for_output(self, count: int) -> None:
        end = time.monotonic() + _PRINT_SECONDS
        while self._printed.count < count and time.monotonic() < end:
            time.sleep(0.001)


def _size(package: Package) -> int:
    pickles = [*package.closures, *(one for _, one in (*package.made, *package.filled))]
    return sum(map(len, pickles))


def _print_output(actor: Any, printed: Printout) -> None:
    """Prints what the first process prints, until it ends."""
    while True:
        try:
            parts = ray.get(actor.output.remote())
        except Exception:
            return
        for number, text in parts:
            stream = sys.stdout if number == 1 else sys.stderr
            stream.write(text)
            stream.flush()
            printed.count += len(text)


def _close(gang: "weakref.ref[Gang]") -> None:
    open_gang = gang()
    if open_gang is not None:
        with contextlib.suppress(KeyboardInterrupt):  # the program ends
            open_gang.close()
