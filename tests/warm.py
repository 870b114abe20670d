"""Python processes that start with the libraries imported, for tests that start many of them.

A *server* is a process that has imported the libraries, and started no backend. It forks a process for each request,
which is then a child of the test's process like any other: it has its own arguments, variables, folder and output,
and ends as an interpreter does. Only its imports are already made, which take seconds otherwise.

For a cluster, two servers take turns, so that its processes do not share the seed of Python's hashes.
"""

import ctypes
import importlib
import itertools
import json
import os
import socket
import subprocess
import sys
import time
import types
from collections.abc import Mapping, Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of prctl(2): orphans become this process's children
_READ_AT_IMPORT = ("JAX_", "FLAX_", "KERAS_", "PYTHON", "LD_")
_DEVICES = "JAX_NUM_CPU_DEVICES"  # read at import too, but easily set later


class _Forked(subprocess.Popen):
    """A process that a server forks: `Popen` in all but how it starts."""

    def __init__(self, server: "Server", request: Mapping[str, object], **options) -> None:
        self._server, self._request = server, request
        super().__init__([sys.executable], **options)

    # Starts the process, and closes its ends of the pipes. Python 3.11 to 3.14 have the same parameters.
    def _execute_child(self, *arguments) -> None:
        pipes = arguments[10:16]  # what to read from and to write to, for stdin, stdout and stderr
        ends = [pipes[0], pipes[3], pipes[5]]
        outputs = [number if end == -1 else end for number, end in enumerate(ends)]
        self.pid = self._server.fork(self._request, outputs)
        self._child_created = True
        self._close_pipe_fds(*pipes)


class Server:
    """A process that has imported `modules`, under the given variables."""

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm", str(theirs.fileno()), *modules],
                env=dict(environment),
                cwd=_ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._socket = ours

    def fork(self, request: Mapping[str, object], outputs: Sequence[int]) -> int:
        """Forks a process that becomes a child of this one; gives its number."""
        prctl = ctypes.CDLL(None).prctl
        prctl(_SUBREAPER, 1, 0, 0, 0)
        try:
            data = json.dumps(request).encode()
            socket.send_fds(self._socket, [len(data).to_bytes(8, "big")], outputs)
            self._socket.sendall(data)
            return int.from_bytes(_receive(self._socket, 8), "big")
        finally:
            prctl(_SUBREAPER, 0, 0, 0, 0)

    def close(self) -> None:
        """Ends it; what it forked goes on."""
        self._socket.close()
        self._process.wait(60)


class Servers:
    """The servers of a test process, started when they are first needed."""

    def __init__(self) -> None:
        self._servers: dict[object, Server] = {}
        self._turns = itertools.cycle(range(2))

    def start(
        self, words: Sequence[object], environment: Mapping[str, str], **options
    ) -> subprocess.Popen:
        """Starts Python as `subprocess.Popen` would, with the libraries imported."""
        words = list(map(str, words))
        if sys.platform != "linux" or (words[0].startswith("-") and words[0] != "-c"):
            return subprocess.Popen([sys.executable, *words], env=environment, **options)
        code = words[1] if words[0] == "-c" else Path(words[0]).read_text()
        modules = ("spmd", "frontends.tf", *(["keras"] if "keras" in code else []))
        fixed = {k: v for k, v in environment.items() if k.startswith(_READ_AT_IMPORT)}
        fixed.pop(_DEVICES, None)
        turn = next(self._turns) if environment.keys() & {"TF_CONFIG", "SLURM_PROCID"} else 0
        key = (turn, modules, tuple(sorted(fixed.items())))
        if key not in self._servers:
            rest = {k: environment[k] for k in ("PATH", "HOME") if k in environment}
            self._servers[key] = Server(modules, rest | fixed)
        request = {
            "words": words,
            "environment": dict(environment),
            "folder": str(options.get("cwd", os.getcwd())),
            "session": options.get("start_new_session", False),
        }
        return _Forked(self._servers[key], request, **{"stdin": subprocess.DEVNULL} | options)

    def close(self) -> None:
        """Ends all servers."""
        for server in self._servers.values():
            server.close()


def _receive(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError(f"{len(data)} bytes came instead of {count}")
        data += more
    return data


def _serve(connection: socket.socket) -> dict:
    """Forks a process per request; gives the request in the forked one. Exits when nobody asks any more."""
    while True:
        size, outputs, *_ = socket.recv_fds(connection, 8, 3)
        if not size:
            os._exit(0)
        request = json.loads(_receive(connection, int.from_bytes(size, "big")))
        numbers, number = os.pipe()
        if not (between := os.fork()):
            parent = os.getpid()
            if not (child := os.fork()):
                while os.getppid() == parent:
                    time.sleep(0.001)
                for standard, output in enumerate(outputs):
                    os.dup2(output, standard)
                for one in (*outputs, numbers, number):
                    os.close(one)
                connection.close()
                return request
            os.write(number, child.to_bytes(8, "big"))
            os._exit(0)
        # Once its parent has ended, and no earlier, the child belongs to the process that asked.
        os.waitpid(between, 0)
        connection.sendall(os.read(numbers, 8))
        for one in (*outputs, numbers, number):
            os.close(one)


def _become(request: dict) -> tuple[str, str]:
    """Makes this process the one that was asked for; gives its code and the name of its file."""
    if request["session"]:
        os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if _DEVICES in os.environ:
        jax.config.update(_DEVICES.lower(), int(os.environ[_DEVICES]))
    if "spmd.topology" in sys.modules:  # as when `frontends.tf` is imported
        sys.modules["spmd.topology"].prepare_simulation()
    np.random.seed()
    first, *rest = request["words"]
    if first == "-c":
        sys.argv[:], sys.path[0] = ["-c", *rest[1:]], ""
        return rest[0], "<string>"
    sys.argv[:], sys.path[0] = [first, *rest], str(Path(first).resolve().parent)
    return Path(first).read_text(), first


if __name__ == "__main__":
    import gc

    import jax
    import numpy as np

    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a forked process would copy all these objects
    _code, _file = _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
    gc.unfreeze()
    sys.modules["__main__"] = _main = types.ModuleType("__main__")
    _main.__file__ = _file
    exec(compile(_code, _file, "exec"), vars(_main))
