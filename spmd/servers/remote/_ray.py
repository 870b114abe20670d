"""Ray, imported with the settings that it reads once, at its import.

Touches internals of Ray (`resolve_ip_for_localhost` and `find_gcs_addresses` of `ray._private.services`), which
tests/spmd/servers/remote runs: Ray's command replaces the loopback address by that of the network, and would listen there;
and it starts no head at an address that a node on this machine was started with.
"""

import os

SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # JAX, not Ray, chooses devices
    "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    # Values go in messages from process to process, and only larger ones by way of both nodes' shared memory.
    "RAY_max_direct_call_object_size": "16000000",
    "RAY_task_rpc_inlined_bytes_limit": "64000000",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # how long a node keeps trying to reach a head that is gone
}
os.environ.update(SETTINGS)

import ray._private.services as _services  # noqa: E402


def keep_loopback() -> None:
    """Has Ray use the loopback address when it is told to."""
    _services.resolve_ip_for_localhost = lambda host: host


if __name__ == "__main__":
    from ray.scripts.scripts import main

    keep_loopback()
    # Else no head starts where one was, as long as a node on this machine still looks for that one.
    _services.find_gcs_addresses = set
    main()
