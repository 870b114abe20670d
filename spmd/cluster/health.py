"""What a process tells of its health to whoever watches over it: pages over HTTP, and a file that it keeps fresh.

Both are off unless an environment variable asks for them:

    JAXTRIBUTE_HEALTH_ADDRESS=0.0.0.0:8080  serves /healthz, for probes, and /metrics, for Prometheus
    JAXTRIBUTE_HEARTBEAT_FILE=/tmp/beat     is written each second

Tasks that share a machine share the variables: the second one of a machine takes the next port, and the file `/tmp/beat-1`.
"""

import atexit
import contextlib
import http.server
import json
import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spmd.cluster.address import split_address
from spmd.cluster.exit_codes import restarts_in
from spmd.cluster.progress import progress
from spmd.errors import ClusterConfigError

HEALTH_VARIABLE, HEARTBEAT_VARIABLE = "JAXTRIBUTE_HEALTH_ADDRESS", "JAXTRIBUTE_HEARTBEAT_FILE"

_LOG = logging.getLogger("spmd.cluster")
_BEAT_SECONDS = 1.0
_RATE_SECONDS = 60  # over which steps per second are averaged
_REQUEST_SECONDS = 2.0  # after which a client that says nothing is hung up on
# Name, key of the status, type, and what it is; without a value a line is left out.
_METRICS = (
    ("jaxtribute_steps_total", "step", "counter", "Steps that this process has started."),
    (
        "jaxtribute_steps_per_second",
        "steps_per_second",
        "gauge",
        "Steps per second, over the last minute.",
    ),
    ("jaxtribute_idle_seconds", "idle_seconds", "gauge", "Time since the last step was started."),
    ("jaxtribute_loss", "loss", "gauge", "The last loss that a step returned."),
    (
        "jaxtribute_last_checkpoint_timestamp_seconds",
        "checkpoint_time",
        "gauge",
        "When the last checkpoint was saved.",
    ),
    ("jaxtribute_restarts_total", "restarts", "counter", "How often the job has started again."),
)


class Health:
    """Counts what a process does, and tells it.

    Args:
        stalled_seconds: how long a process that has run a step may start none, and report nothing that it does instead,
            until it is not healthy any more.

    Examples:
        >>> health = Health(600.0)
        >>> health.stepped(np.float32(0.5))
        >>> health.status()["step"], health.status()["loss"]
        (1, 0.5)
    """

    def __init__(self, stalled_seconds: float) -> None:
        self._stalled_seconds = stalled_seconds
        self._steps = 0
        self._stepped_at = time.monotonic()
        self._loss: Any = None
        self._shown_loss: float | None = None
        self._saved_at: float | None = None
        self._restarts = restarts_in(os.environ)
        # Counts of steps, a second apart.
        self._counts = deque([(time.monotonic(), 0)], maxlen=_RATE_SECONDS + 1)

    def stepped(self, result: Any) -> None:
        """Counts a step; its loss is its result, if that is one number, or what the result has under `"loss"`."""
        self._steps += 1
        self._stepped_at = time.monotonic()
        loss = result.get("loss") if isinstance(result, Mapping) else result
        if getattr(loss, "ndim", None) == 0:
            self._loss = loss

    def saved(self) -> None:
        """Records that a checkpoint is complete."""
        self._saved_at = time.time()

    def beat(self) -> None:
        """Looks at the count of steps; called once a second."""
        self._counts.append((time.monotonic(), self._steps))

    def status(self) -> dict[str, Any]:
        """Returns what is known, by name; `ok` says whether the process is healthy."""
        now = time.monotonic()
        idle = now - self._stepped_at
        doing = progress.doing or progress.call
        (then, before), (latest, count) = self._counts[0], self._counts[-1]
        return {
            "ok": not self._steps or bool(doing) or idle <= self._stalled_seconds,
            "doing": doing or ("trains" if self._steps else "starts"),
            "step": self._steps,
            "steps_per_second": (count - before) / (latest - then) if latest > then else 0.0,
            "idle_seconds": idle,
            "loss": self._last_loss(),
            "checkpoint_time": self._saved_at,
            "restarts": self._restarts,
            "time": time.time(),
        }

    def metrics(self) -> str:
        """Returns the same in the format that Prometheus reads.

        Source: https://prometheus.io/docs/instrumenting/exposition_formats/
        """
        status = self.status()
        lines: list[str] = []
        for name, key, kind, text in _METRICS:
            if status[key] is not None:
                lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {status[key]}"]
        return "\n".join(lines) + "\n"

    def _last_loss(self) -> float | None:
        loss = self._loss
        # A step that is still running has no loss yet: this must not wait for it.
        if loss is not None and getattr(loss, "is_ready", lambda: True)():
            with contextlib.suppress(Exception):  # deleted since, or not of this process alone
                self._shown_loss = float(np.asarray(loss))
        return self._shown_loss


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = _REQUEST_SECONDS
    server_version, sys_version = "jaxtribute", ""

    def __init__(self, health: Health, *arguments: Any) -> None:
        self._health = health
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answers a probe or Prometheus."""
        if self.path == "/healthz":
            status = self._health.status()
            self._answer(200 if status["ok"] else 503, "application/json", json.dumps(status))
        elif self.path == "/metrics":
            self._answer(200, "text/plain; version=0.0.4", self._health.metrics())
        else:
            self._answer(404, "text/plain", "There are /healthz and /metrics.\n")

    def _answer(self, code: int, kind: str, text: str) -> None:
        words = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(words)))
        self.end_headers()
        self.wfile.write(words)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing for a request."""


class _Server(http.server.HTTPServer):
    def __init__(self, host: str, port: int, health: Health) -> None:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self.address_family = family
        super().__init__((str(where[0]), port), partial(_Handler, health))

    def handle_error(self, request: object, client_address: object) -> None:
        """Prints nothing for a client that hung up."""


class _Service:
    """What this process has started; `close` ends it."""

    def __init__(self, health: Health, address: str, file: str, task: int) -> None:
        self.health = health
        self._closed = threading.Event()
        self._server = _server_at(address, task, health) if address else None
        path = Path(f"{file}-{task}" if task else file) if file else None
        works = [("spmd-heartbeat", partial(self._beat, path))]
        if self._server is not None:
            works.append(("spmd-health", partial(self._server.serve_forever, _BEAT_SECONDS)))
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True) for name, work in works
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._closed.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        for thread in self._threads:
            thread.join()

    def _beat(self, path: Path | None) -> None:
        failed = ""
        while not self._closed.wait(_BEAT_SECONDS):
            self.health.beat()
            if path is None:
                continue
            new = path.with_name(f".{path.name}.new")
            try:
                new.write_text(json.dumps(self.health.status()))
                new.replace(path)
            except OSError as error:
                if str(error) != failed:
                    failed = str(error)
                    _LOG.warning("The heartbeat cannot be written: %s", error)


_started: _Service | None = None
_lock = threading.Lock()


def start(stalled_seconds: float, task: int = 0) -> Health | None:
    """Starts what the environment asks for, the first time.

    Args:
        stalled_seconds: see `Health`.
        task: index of this process among those of its machine.

    Returns:
        What this process tells of; None if nobody asked for it.

    Raises:
        ClusterConfigError: the address is none.
    """
    global _started
    address, file = os.environ.get(HEALTH_VARIABLE, ""), os.environ.get(HEARTBEAT_VARIABLE, "")
    if not address and not file:
        return None
    with _lock:
        if _started is None:
            _started = _Service(Health(stalled_seconds), address, file, task)
            atexit.register(_started.close)
        return _started.health


def current_health() -> Health | None:
    """Returns what this process tells of; None if nobody asked for it, or nothing has started yet."""
    return None if _started is None else _started.health


def _server_at(address: str, task: int, health: Health) -> _Server | None:
    try:
        host, port = split_address(address)
    except ValueError as error:
        raise ClusterConfigError(
            f"{error} It is {HEALTH_VARIABLE}. Write, for example, {HEALTH_VARIABLE}=0.0.0.0:8080, or unset it."
        ) from error
    try:
        return _Server(host, port + task, health)
    except (OSError, OverflowError) as error:
        # Training does not end because nobody can watch it.
        _LOG.warning("Nobody can ask for health at port %d of %r: %s", port + task, host, error)
        return None
