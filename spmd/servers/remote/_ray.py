"""Ray, imported with the settings that it reads once, at its import.

Touches internals of Ray, which tests/spmd/servers/remote runs: `resolve_ip_for_localhost` and `find_gcs_addresses` of
`ray._private.services`, since Ray's command replaces the loopback address by that of the network, and would listen there,
and starts no head at an address that a node on this machine was started with; `ray._private.worker.print_to_stdstream`,
since a program that Ray tells of a lost node would print pages of it among its own lines; `ray._raylet.GcsClient`, since
Ray ends a program that asks a head for its nodes which was started anew; and two methods of `ray._private.node.Node`, which
would start more than is needed.
"""

import atexit
import contextlib
import functools
import os
import sys
from typing import Any

SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # JAX, not Ray, chooses devices
    "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    # Values go in messages from process to process, and only larger ones by way of both nodes' shared memory.
    "RAY_max_direct_call_object_size": "16000000",
    "RAY_task_rpc_inlined_bytes_limit": "64000000",
    "RAY_ENABLE_AUTO_CONNECT": "0",  # to whatever other cluster the machine has, when this one is gone
    # Ray ends a process that has not reached the head for so long; a program shall learn of it, and go on.
    "RAY_gcs_rpc_server_reconnect_timeout_s": "1000000",
    # The head takes a node for dead that has not answered five times, at intervals of three seconds.
    "RAY_health_check_period_ms": "3000",
    "RAY_health_check_timeout_ms": "10000",
    "RAY_health_check_failure_threshold": "5",
}
NODE_SETTINGS = SETTINGS | {
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",
    "RAY_gcs_rpc_server_connect_timeout_s": "30",  # on a busy machine a head takes its time
}
os.environ.update(NODE_SETTINGS if __name__ == "__main__" else SETTINGS)


@atexit.register  # before Ray's own is, which so runs first
def _end_as_interrupted() -> None:
    """Has a program that Ctrl-C ends die of the signal, as any other: what Ray does at its exit makes Python forget."""
    is_interactive = hasattr(sys, "ps1")
    if getattr(sys, "last_type", None) is KeyboardInterrupt and not is_interactive:
        with contextlib.suppress(KeyboardInterrupt):
            exec(
                "raise KeyboardInterrupt"
            )  # Python notes it of a string, which it compiles, and of nothing else


import ray._private.services as _services  # noqa: E402
import ray._private.worker as _worker  # noqa: E402
import ray._raylet as _raylet  # noqa: E402


def keep_loopback() -> None:
    """Has Ray use the loopback address when it is told to."""
    _services.resolve_ip_for_localhost = lambda host: host


def keep_quiet() -> None:
    """Has Ray not print in a program's output what happens to nodes."""
    _worker.print_to_stdstream = lambda *_, **__: None


def identity(head: str) -> str | None:
    """Returns what tells a head from one that was started later at the same address; None if it does not answer."""
    client: Any = getattr(_raylet, "GcsClient")  # noqa: B009 -- Ray does not declare it
    try:
        return client(address=head).cluster_id.hex()
    except Exception:
        return None


def start_no_more_than_needed(*, dashboard: bool) -> None:
    """Has Ray's command start neither the server of Ray Client, which would listen, nor the dashboard's if it is not wanted."""
    from ray._private.node import Node

    Node.start_ray_client_server = lambda self: None
    if not dashboard:
        Node.start_api_server = lambda self, **options: None


if __name__ == "__main__":
    from ray.scripts.scripts import main

    keep_loopback()
    start_no_more_than_needed(dashboard="--include-dashboard=true" in sys.argv)
    # Else no head starts where one was, as long as a node on this machine still looks for that one.
    _services.find_gcs_addresses = functools.cache(set)  # Ray clears its cache at the end
    main()
