"""Nodes of a Ray cluster, one for each task, each with a resource of its task's name."""

import contextlib
import fcntl
import functools
import importlib.util
import ipaddress
import json
import logging
import math
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import ray

from spmd.cluster import RETRYABLE_EXIT_CODE
from spmd.servers.remote import tokens
from spmd.servers.remote._ray import NODE_SETTINGS, SETTINGS, keep_loopback, keep_quiet
from spmd.servers.remote.errors import (
    AddressInUseError,
    ClusterError,
    TokenError,
    UnknownHostError,
)
from spmd.servers.remote.tokens import TOKEN_HELP

_HERE = Path(__file__).parent
_POLL_SECONDS = 0.5
# How long the processes of a task that was killed may take to end, and to give up its address.
_IN_USE_SECONDS = 15.0
_FIRST_REPORT_SECONDS = 5.0
_REPORT_SECONDS = 30.0
# How often a task that serves until the last program is done asks whether another one may come.
_OVER_SECONDS = 2.0
_LOCKS = 64
_LOOPBACK = "127.0.0.1"  # at any other address, Ray listens on all interfaces
_STORE_BYTES = 2_000_000_000
# What a node prints whose token the head refuses, and goes on trying; and what the driver then raises.
_REFUSED_ONCE = "Unauthenticated"
_REFUSED = "AuthenticationError"


# Starts Ray's dashboard on the head if it is 1.
DASHBOARD = "JAXTRIBUTE_RAY_DASHBOARD"
# Names the folder with the open files of the process that a node belongs to.
OUTPUT = "JAXTRIBUTE_TASK_OUTPUT"
# Names the pipe by which a process of a node tells the node's task that its program runs, or is done.
_DONE = "JAXTRIBUTE_TASK_DONE"


class Node:
    """The Ray processes of one task; they end with this process, however it ends.

    Attributes:
        name: of the task.
    """

    def __init__(
        self, name: str, host: str, head: str, port: int = 0, done: "_Done | None" = None
    ) -> None:
        """Starts a node; blocks until it runs.

        Args:
            name: of the task, and of the resource that pins actors to it.
            host: name or address of this machine, where the node listens.
            head: `"host:port"` of the head.
            port: where the node listens; the head's own, if this is the head.
            done: learns that a program is done, or that none will come.

        Raises:
            ClusterError: Ray does not start.
            TokenError: the head refuses the token.
        """
        self.name, self._done = name, done
        host = resolved(host)
        command = [sys.executable, "-P", str(_HERE / "_ray.py"), "start", "--block"]
        command += [f"--node-ip-address={host}", "--num-cpus=0", "--disable-usage-stats"]
        command += ["--include-log-monitor=false"]
        command += [f"--resources={json.dumps({name: 1})}", f"--object-store-memory={_memory()}"]
        if head == f"{host}:{port}":
            command += ["--head", f"--port={port}", "--no-monitor"]
            command += [f"--include-dashboard={str(_wants_dashboard()).lower()}"]
        else:
            command += [f"--address={head}", f"--node-manager-port={port}"]
        with _one_at_a_time(head):
            if "--head" not in command and not wait_for(head, seconds=1.0):
                # Ray would look for it for half a minute, and let no other node start.
                raise ClusterError(f"The head of the cluster at {head} has gone.")
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_HERE / "_node_main.py"), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Keras reads its backend at its import; what travels to the task needs JAX.
                env={"KERAS_BACKEND": "jax"}
                | os.environ
                | environment(host)
                | NODE_SETTINGS
                | {OUTPUT: f"/proc/{os.getpid()}/fd"}
                | ({} if done is None else {_DONE: done.path}),
            )
            assert self._process.stdout is not None
            lines: list[str] = []
            for line in self._process.stdout:
                lines.append(line.decode(errors="replace"))
                if "Ray runtime started" in lines[-1]:
                    return
                if _REFUSED_ONCE in lines[-1]:
                    break
        self.close()
        if _REFUSED_ONCE in "".join(lines):
            raise _refused(head)
        raise ClusterError(
            f"Ray's node of the task {name} did not start. It wrote:\n{''.join(lines[-20:])}"
        )

    def wait(self, head: str | None = None) -> None:
        """Blocks until the node ends, or its head does, or a program that is done has left, or none will come.

        Ray waits for a head to come back, and takes long to tell a new one from it.

        Args:
            head: `"host:port"` of the head; None if this is the head.
        """
        output: Any = self._process.stdout
        connection = None if head is None else _connection_to(head)
        while head is None or connection is not None:
            watched = [one for one in (output, connection, self._done) if one is not None]
            seconds = None if self._done is None else _OVER_SECONDS
            readable, _, _ = select.select(watched, [], [], seconds)
            if self._done in readable and self._done is not None and self._done.has_left():
                break
            if self._done is not None and self._done.is_over():
                break
            if output in readable and not output.read1():
                self._process.wait()
                break
            if head and connection and connection in readable and not _says_something(connection):
                connection.close()
                connection = _connection_to(head)  # it closes what does not talk, but is there
        if connection is not None:
            connection.close()

    def is_running(self) -> bool:
        """Tells whether the node has not ended."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the node."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class _Done:
    """Learns that the program for which a task serves is done, and has left, or that none will come.

    A process of the node opens the pipe, and holds a lock on it, as long as it runs for a program.

    Attributes:
        path: what they open, and write to when the program is done.
        is_done: whether they have written.
    """

    def __init__(self, ended: Callable[[], bool]) -> None:
        """Makes the pipe.

        Args:
            ended: tells that no program will come any more.
        """
        self._reader, self._writer = os.pipe()
        self.path = f"/proc/{os.getpid()}/fd/{self._writer}"
        self.is_done = False
        self._ended, self._asked, self._is_over = ended, -math.inf, False

    def is_over(self) -> bool:
        """Tells whether no program runs here, nor will one come; asks now and then only."""
        if not self._is_over and time.monotonic() >= self._asked + _OVER_SECONDS:
            self._is_over = not self._is_used() and self._ended()
            self._asked = time.monotonic()
        return self._is_over

    def _is_used(self) -> bool:
        try:
            fcntl.flock(self._reader, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        fcntl.flock(self._reader, fcntl.LOCK_UN)
        return False

    def fileno(self) -> int:
        """Returns what `select` waits for."""
        return self._reader

    def has_left(self) -> bool:
        """Reads what there is; tells whether all who wrote have ended."""
        if not os.read(self._reader, 4096):
            return True
        if not self.is_done:
            self.is_done = True
            os.close(self._writer)  # the other end is closed now when theirs are
        return False

    def close(self) -> None:
        """Closes the pipe."""
        os.close(self._reader)
        if not self.is_done:
            os.close(self._writer)


def serve(
    name: str,
    address: str,
    head: str,
    head_name: str,
    source: str,
    *,
    until: Callable[[], bool] | None = None,
) -> None:
    """Runs the node of a task, cluster after cluster, until SIGTERM ends this process; prints once that it serves.

    Args:
        name: of the task.
        address: `"host:port"` of the task.
        head: `"host:port"` of the head, which may be this task.
        head_name: what the head is, for messages, as `joining.name_of` says it.
        source: where the addresses come from, likewise.
        until: returns when a program has said that it is done (`RemoteCluster.finish`), and has left; or, while none runs here, when
            this says that none will come: the task may have been started again after the last one. None serves for ever.

    Raises:
        AddressInUseError: something else listens at the task's address.
        ClusterError: the name of the task's host is unknown.
        TokenError: the cluster has several machines, and no token was given; or the head refuses it.
    """
    host, port = split(address)
    with addresses_from(source):
        environment(host)  # now: a node that cannot start is tried again and again
    _end_when_asked()
    message, serves = "", False
    done = None if until is None else _Done(until)
    is_over = _never if done is None else done.is_over
    while not is_over():
        wait_until_free(name, address)
        if address != head:
            wait = _wait_for_next if serves else functools.partial(wait_for_head, source=source)
            if not wait(head, head_name, is_over=is_over):
                break
        try:
            node = Node(name, host, numeric(head), port, done)
        except TokenError:
            raise
        except ClusterError as error:  # the head has just gone, or a former process still ends
            if str(error) != message:
                message = str(error)
                print(f"{message}\nIt is tried again.", flush=True)
        else:
            if not serves:
                print(_serves(name, address, head), flush=True)
            message, serves = "", True
            try:
                node.wait(None if address == head else head)
            finally:
                node.close()
            if done is not None and done.is_done:
                break
        time.sleep(_POLL_SECONDS)
    if done is not None:
        if not done.is_done:
            print(f"{shown(name)} ends: what it served for has ended.", flush=True)
        done.close()


def _never() -> bool:
    return False


def _serves(name: str, address: str, head: str) -> str:
    its_head = "it is" if address == head else f"{head} is"
    return f"{shown(name)} at {address} serves; {its_head} the head of the cluster."


def shown(name: str) -> str:
    """Returns a task's name as it is shown.

    Examples:
        >>> shown("worker_0")
        'worker 0'
    """
    return name.replace("_", " ")


def wait_until_free(name: str, address: str) -> None:
    """Waits until nothing listens at the address of a task; its former process may still end.

    Raises:
        AddressInUseError: something listens there for long.
    """
    end = time.monotonic() + _IN_USE_SECONDS
    while _listens(address):
        if time.monotonic() > end:
            raise AddressInUseError(
                f"{address} is in use, so {shown(name)} cannot serve there. Is the task running already? End it, or give "
                "the task another port."
            )
        time.sleep(_POLL_SECONDS)


def wait_for_head(head: str, task: str, source: str, is_over: Callable[[], bool] = _never) -> bool:
    """Waits until the head listens, and prints now and then what is waited for.

    Args:
        head: its address.
        task: what it is, for the message.
        source: where the address comes from, likewise.
        is_over: tells that it will not.

    Returns:
        Whether it listens.
    """
    seconds = _FIRST_REPORT_SECONDS
    while not wait_for(head, seconds, is_over):
        if is_over():
            return False
        reason = "where nothing listens yet. Is the task running, and the port right?"
        try:
            resolved(split(head)[0])
        except UnknownHostError as error:  # its name may become known, as that of a pod does
            reason = f"but its name is not known here yet: {error.reason}. Check the addresses in {source}."
        print(f"Waiting for {task} at {head}, {reason}", flush=True)
        seconds = _REPORT_SECONDS
    return True


def _wait_for_next(head: str, name: str, is_over: Callable[[], bool]) -> bool:
    """Waits until the head that a task had listens again; prints once what is waited for. Returns whether it does.

    A chief is a program, which ends when it is done.
    """
    if wait_for(head, _FIRST_REPORT_SECONDS, is_over):
        return True
    if is_over():
        return False
    next_one = "the next program" if name.startswith("chief") else "it"
    print(f"{name} has ended. Waiting for {next_one} at {head}.", flush=True)
    return wait_for(head, is_over=is_over)


def _connection_to(head: str) -> socket.socket | None:
    with contextlib.suppress(OSError, ClusterError):
        return socket.create_connection(split(numeric(head)), 5.0)
    return None


def _says_something(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(4096))
    except OSError:
        return False


def print_to_task() -> None:
    """Has this process, of a node, print where the node's task does; where that fails, to Ray's logs."""
    for descriptor in (1, 2):
        with contextlib.suppress(KeyError, OSError):
            path = f"{os.environ[OUTPUT]}/{descriptor}"
            output = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.dup2(output, descriptor)
            os.close(output)


def tell_of_program() -> None:
    """Has the task of the node that this process belongs to print that a program has connected; one runs until this process ends."""
    with contextlib.suppress(KeyError, OSError):
        output = os.open(f"{os.environ[OUTPUT]}/1", os.O_WRONLY | os.O_APPEND)
        os.write(output, b"A program has connected.\n")
        os.close(output)
    with contextlib.suppress(KeyError, OSError):
        _held(os.environ[_DONE])


def tell_done() -> None:
    """Tells the task of this process's node, if it waits for that, that the program is done; again when this process ends."""
    with contextlib.suppress(KeyError, OSError):
        os.write(_held(os.environ[_DONE]), b"done")


@functools.cache
def _held(path: str) -> int:
    """Opens the pipe of `_Done`, and holds it until this process ends."""
    descriptor = os.open(path, os.O_WRONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def environment(host: str) -> dict[str, str]:
    """Returns the environment variables of a node's processes, and of a program that uses one.

    Raises:
        TokenError: the cluster has several machines, and no token was given; or the token is none that would do.
    """
    found = dict(SETTINGS)
    if not tokens.is_given():
        if not ipaddress.ip_address(resolved(host)).is_loopback:
            raise _none_given()
        found[tokens.TOKEN_PATH] = str(tokens.own_token())
    return found


def check_token(head: str) -> None:
    """Raises what `environment` would, before the head of a cluster is waited for, or is known by its name.

    Raises:
        TokenError: see `environment`.
    """
    if tokens.is_given():
        return
    with contextlib.suppress(UnknownHostError):
        if ipaddress.ip_address(resolved(split(head)[0])).is_loopback:
            return
    raise _none_given()


def _none_given() -> TokenError:
    return TokenError(f"The cluster has tasks on other machines, and no token. {TOKEN_HELP}")


def wait_for(head: str, seconds: float | None = None, is_over: Callable[[], bool] = _never) -> bool:
    """Waits until something listens on an address, for some seconds, or until it is over; returns whether it does."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    while time.monotonic() < end:
        if _listens(head):
            return True
        if is_over():
            return False
        time.sleep(_POLL_SECONDS)
    return False


def _listens(address: str) -> bool:
    # Its name may not be known yet.
    unknown = contextlib.suppress(OSError, ClusterError)
    with unknown, socket.create_connection(split(numeric(address)), 5.0):
        return True
    return False


def wait_for_name(host: str, seconds: float = 60.0) -> None:
    """Waits until a host is known by its name: a pod is only a moment after its start."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(ClusterError):
            resolved(host)
            return
        time.sleep(_POLL_SECONDS)


def split(address: str) -> tuple[str, int]:
    """Divides `"host:port"`."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def resolved(host: str) -> str:
    """Returns the address of a host; of this one, that on which Ray listens for this machine only.

    Raises:
        UnknownHostError: its name is unknown.
    """
    try:
        address = socket.gethostbyname(host)
        return _LOOPBACK if ipaddress.ip_address(address).is_loopback else address
    except OSError as error:
        raise UnknownHostError(host, str(error)) from None


@contextlib.contextmanager
def addresses_from(source: str) -> Generator[None]:
    """Has an unknown host in a `with` block be an error that says where to mend it.

    Args:
        source: where the addresses come from.

    Raises:
        UnknownHostError: the name of a host is unknown.
    """
    try:
        yield
    except UnknownHostError as error:
        raise UnknownHostError(error.host, error.reason, source) from None


def numeric(address: str) -> str:
    """Returns an address with the host's number."""
    host, port = split(address)
    return f"{resolved(host)}:{port}"


def connect(head: str, host: str) -> None:
    """Makes this process a driver of a cluster, through the node of this machine.

    Raises:
        ClusterError: the head does not answer.
        TokenError: it refuses the token.
    """
    os.environ.update(environment(host))
    keep_loopback()
    keep_quiet()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            address=numeric(head),
            _node_ip_address=resolved(host),
            log_to_driver=False,  # a task prints what its functions print
            logging_level=logging.WARNING,
        )
    except Exception as error:
        if _REFUSED in f"{type(error).__name__}: {error}":
            raise _refused(head) from error
        raise ClusterError(
            f"Cannot join the cluster at {head}: {type(error).__name__}: {error}. Check that its tasks run, and that all "
            f"have the same versions of Ray and Python. {TOKEN_HELP}"
        ) from error
    # Ray's own aborts the program, with a stack trace.
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)
        _end_when_asked()


def _end_when_asked() -> None:
    """Has SIGTERM end this process with the code that asks for a restart, unless the script handles it.

    The first process of a container would ignore it otherwise.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(RETRYABLE_EXIT_CODE))


def _refused(head: str) -> TokenError:
    source = tokens.TOKEN
    if not os.environ.get(source):
        source = f"the file {os.environ.get(tokens.TOKEN_PATH) or tokens.own_token()}"
    return TokenError(
        f"The cluster at {head} refuses the token of this task, which is that of {source}. {TOKEN_HELP}"
    )


def _wants_dashboard() -> bool:
    if os.environ.get(DASHBOARD) != "1":
        return False
    if importlib.util.find_spec("aiohttp") is None:
        raise ClusterError(
            f"{DASHBOARD}=1 asks for Ray's dashboard, which is not installed. Install it where the head runs: "
            'pip install "ray[default]"'
        )
    return True


def _memory() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(_STORE_BYTES, total // 10)


@contextlib.contextmanager
def _one_at_a_time(head: str) -> Generator[None]:
    """Lets one node of a cluster start at a time on a machine: two at once take each other's sockets."""
    _, port = split(head)
    # A file for each head would be left for ever.
    path = Path(tempfile.gettempdir()) / f"jaxtribute-nodes-{os.getuid()}-{port % _LOCKS}.lock"
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
