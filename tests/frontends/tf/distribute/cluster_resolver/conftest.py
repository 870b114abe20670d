"""A server on loopback that gives recorded answers, and an environment that says nothing of a cluster."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest


class Server:
    """Gives `answers` by path: JSON, or text as it is, or an error's number; remembers `requests`."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def answer(self) -> None:
                parts = urlsplit(self.path)
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
                body = json.loads(sent) if sent else None
                server.requests.append((self.command, parts.path, query, body))
                found = server.answers.get(parts.path, 404)
                found = found(query) if callable(found) else found
                status, found = (found, {}) if isinstance(found, int) else (200, found)
                data = found if isinstance(found, str) else json.dumps(found)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data.encode())))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(data.encode())

            do_GET = do_POST = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("TF_CONFIG", "SLURM_", "TPU_", "KUBE", "GCE_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
