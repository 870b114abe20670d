"""A process that serves its traces."""


def test_serves_on_its_port(run_python):
    code = """
import socket
from frontends import tf
with socket.socket() as free:
    free.bind(("localhost", 0))
    port = free.getsockname()[1]
tf.profiler.experimental.server.start(port)
with socket.create_connection(("localhost", port), timeout=10):
    print("listens")
"""
    assert run_python("-c", code).stdout == "listens\n"
