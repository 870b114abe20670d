"""Joins this process to its cluster: finds the others, starts `jax.distributed`, watches, and leaves in order.

    spmd.cluster.initialize(["10.0.0.1:2222", "10.0.0.2:2222"], process_id=0)

docs/failures.md describes what may go wrong, and what one sees then.
"""

import atexit
import contextlib
import os
import sys
from collections.abc import Generator, Sequence
from typing import NamedTuple

import jax

from spmd import _jax_internals
from spmd.cluster import error_file, failures, health
from spmd.cluster.address import split_address
from spmd.cluster.exit_codes import RESTART_LIMIT_VARIABLE, RESTART_VARIABLE
from spmd.cluster.network_thread import schedule_network_thread_as_batch
from spmd.cluster.rendezvous import Meeting, meet
from spmd.cluster.roster import Roster
from spmd.cluster.verdict import Limits
from spmd.cluster.watchdog import Watchdog, delay_aborts
from spmd.errors import ClusterStartError, Remedy, some_of

# As in torch.distributed's watchdog of collectives. A dead process is noticed at once all the same.
_WATCHDOG_SECONDS = 600.0
_START_SECONDS = 300.0
_SILENT_SECONDS = 100.0  # as JAX's heartbeat timeout, which is set to expire later
_APART_SECONDS = 20.0  # a lost packet or a full disk may delay news to process 0 by some seconds
# Other timeouts are this much longer, so that the watchdog, which says more, comes first.
_AFTER_OURS = 60.0
_PREEMPTION_SERVICE = "jax_enable_preemption_service"
_NO_PROXY = "no_grpc_proxy"  # gRPC reads the lower-case name


class _Joined(NamedTuple):
    """The cluster that this process has joined."""

    roster: Roster
    watchdog: Watchdog | None
    patience: float


_joined: _Joined | None = None


def initialize(
    addresses: Sequence[str],
    process_id: int,
    *,
    names: Sequence[str] | None = None,
    timeout_seconds: float | None = None,
    watchdog_seconds: float | None = None,
    local_devices: Sequence[int] | None = None,
) -> None:
    """Joins this process to a cluster; blocks until all its processes are there, and each must call it.

    With one address it does nothing. Otherwise call it before anything makes an array. While it waits, it prints
    who is missing. Later calls with the same arguments do nothing.

    Args:
        addresses: `"host:port"` of each process, the same list in each. Process 0 listens on its own.
        process_id: index of this process in the list.
        names: names of the processes in messages, such as `"chief 0"`; None for `"worker 0"` and so on.
        timeout_seconds: how long to wait for the others; None takes the environment variable
            JAXTRIBUTE_START_TIMEOUT, or 300.
        watchdog_seconds: how long a process may start no step while the others wait for it; None takes
            JAXTRIBUTE_WATCHDOG_SECONDS, or 600. It also caps the 100 seconds for which a process may be silent,
            and the 20 seconds after which a wait that can never end is given up. Calls that all must make, such
            as saves, wait a minute longer.
        local_devices: indices of the GPUs that this process uses; None for all.

    Raises:
        ClusterStartError: processes are missing after the timeout or disagree about the cluster; or this one has
            joined another cluster, or a backend runs already. If a retry may help and nobody catches it, the
            process exits with the retryable code, 143.
        ValueError: an argument or environment variable is malformed.

    Examples:
        >>> initialize(["localhost:2222"], 0)  # one process: there is nothing to join

    Source: `jax.distributed.initialize`.
    """
    global _joined
    roster = Roster(addresses, process_id, names or ())
    start = _seconds(timeout_seconds, "timeout_seconds", "JAXTRIBUTE_START_TIMEOUT", _START_SECONDS)
    patience = _patience(watchdog_seconds)
    if _joined is not None:
        if _joined.roster == roster:
            return
        raise ClusterStartError(
            f"This process has joined a cluster already, as {_position(_joined.roster)}, and cannot join another one, "
            f"as {_position(roster)}. Call it once, or with the same arguments."
        )
    error_file.start(roster.index_on_machine)
    if len(roster.addresses) == 1:
        _joined = _Joined(roster, None, patience)
        return
    _check_nothing_runs(roster)
    _check_attempt(roster)
    health.start(patience, roster.index_on_machine)
    failures.take_over()
    meeting = meet(roster, start)
    limits = Limits(patience, min(patience, _SILENT_SECONDS), min(patience, _APART_SECONDS))
    watchdog = Watchdog(roster, meeting.lines, limits)
    _joined = _Joined(roster, watchdog, patience)
    failures.report_to(watchdog)
    delay_aborts()
    watchdog.start()  # now: a process may die while JAX starts
    try:
        _start_jax(roster, meeting, limits, start, local_devices)
    except BaseException:
        # This process has not joined: a later call must try again, or say why it cannot.
        _joined = None
        failures.report_to(None)
        watchdog.stop()
        raise
    atexit.register(_leave, os.getpid())


def shutdown() -> None:
    """Leaves the cluster once all processes have called this or ended; blocks, and each must call it.

    The end of the script does the same. The wait is bounded: the watchdog ends processes that keep the others
    waiting for too long.

    Examples:
        >>> shutdown()  # in one process: there is nothing to leave

    Source: `jax.distributed.shutdown`.
    """
    global _joined
    joined, _joined = _joined, None
    if joined is None or joined.watchdog is None:
        return
    joined.watchdog.end()
    failures.report_to(None)
    jax.distributed.shutdown()
    joined.watchdog.stop()


def process_id() -> int:
    """Returns the index of this process in its cluster; 0 if it is in none.

    Also in a cluster that was joined by calling `jax.distributed.initialize`.

    Examples:
        >>> process_id()
        0
    """
    if _joined is not None:
        return _joined.roster.process_id
    return jax.process_index() if jax.distributed.is_initialized() else 0


def task_names() -> tuple[str, ...]:
    """Returns the names of the cluster's processes, by process.

    Examples:
        >>> task_names()
        ('worker 0',)
    """
    if _joined is not None:
        return tuple(_joined.roster.names)
    count = jax.process_count() if jax.distributed.is_initialized() else 1
    return tuple(f"worker {process}" for process in range(count))


def wait_seconds() -> float:
    """Returns how long this process waits in a call for the others to make it too.

    One minute longer than the watchdog waits, whose report says more.

    Examples:
        >>> wait_seconds()
        660.0
    """
    return (_patience(None) if _joined is None else _joined.patience) + _AFTER_OURS


def start_health() -> health.Health | None:
    """Starts what the environment asks for about the health of this process, if joining a cluster has not.

    Examples:
        >>> start_health()  # nobody asked
    """
    return health.start(_patience(None))


def _patience(seconds: float | None) -> float:
    return _seconds(seconds, "watchdog_seconds", "JAXTRIBUTE_WATCHDOG_SECONDS", _WATCHDOG_SECONDS)


def _seconds(value: float | None, argument: str, variable: str, default: float) -> float:
    source, text = argument, value
    if value is None:
        source, text = variable, os.environ.get(variable) or default
    try:
        seconds = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ValueError(
            f"{source} must be a positive number of seconds, such as {default:g}, not {text!r}."
        )
    return seconds


def _position(roster: Roster) -> str:
    return f"process {roster.process_id} of {list(roster.addresses)}"


def _check_nothing_runs(roster: Roster) -> None:
    if _jax_internals.coordination_client() is not None:
        raise ClusterStartError(
            "jax.distributed.initialize was called before. Remove that call: joining the cluster replaces it."
        )
    if _jax_internals.backend_is_running():
        script = vars(sys.modules.get("__main__", os))
        arrays = [name for name, value in script.items() if isinstance(value, jax.Array)]
        made = f" Arrays of the script that exist already: {some_of(arrays)}." if arrays else ""
        raise ClusterStartError(
            f"{roster.label(roster.process_id)} can no longer join its cluster: JAX's backend already runs, with "
            f"this process's devices alone. Something before this line made an array, a variable or a model, or "
            f"asked for devices.{made} Join the cluster above it, at the top of the script, right after the "
            f"imports: {Remedy.JOIN_CLUSTER.spelled()}."
        )


def _check_attempt(roster: Roster) -> None:
    attempt, limit = (
        os.environ.get(name, "") for name in (RESTART_VARIABLE, RESTART_LIMIT_VARIABLE)
    )
    if attempt.isdecimal() and limit.isdecimal() and int(attempt) > int(limit):
        raise ClusterStartError(
            f"{roster.label(roster.process_id)} has been started again {attempt} times, more than the {limit} of "
            f"{RESTART_LIMIT_VARIABLE}. The output of earlier attempts says what ends them; if the cluster only takes machines "
            "away often, raise --max-interruptions of jaxtribute launch, or that variable."
        )


def _start_jax(
    roster: Roster,
    meeting: Meeting,
    limits: Limits,
    timeout_seconds: float,
    local_devices: Sequence[int] | None,
) -> None:
    if jax.config.values.get("jax_cpu_collectives_implementation") is None:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    schedule_network_thread_as_batch()
    if _PREEMPTION_SERVICE.upper() not in os.environ:
        jax.config.update(_PREEMPTION_SERVICE, False)  # it would take over SIGTERM
    try:
        with _past_proxies(split_address(meeting.coordinator)[0]):
            jax.distributed.initialize(
                meeting.coordinator,
                len(roster.addresses),
                roster.process_id,
                local_device_ids=local_devices,
                cluster_detection_method="deactivate",
                initialization_timeout=max(1, round(timeout_seconds + _AFTER_OURS)),
                coordinator_bind_address=meeting.bind or None,
                heartbeat_timeout_seconds=round(limits.silent_seconds + _AFTER_OURS),
                shutdown_timeout_seconds=round(_AFTER_OURS),
            )
    except jax.errors.JaxRuntimeError as error:
        raise ClusterStartError(
            f"All tasks were there, but {roster.me} could not start jax.distributed with the coordinator at "
            f"{meeting.coordinator}: {error} If another program took the port at that moment, a restart helps.",
            retryable=True,
        ) from error


@contextlib.contextmanager
def _past_proxies(host: str) -> Generator[None]:
    """Keeps gRPC from connecting to a host of the cluster through the environment's proxy, where it would hang."""
    if not any(f"{kind}_proxy" in os.environ for kind in ("grpc", "https", "http")):
        yield
        return
    before = os.environ.get(_NO_PROXY)
    others = before if before is not None else os.environ.get("no_proxy", "")
    os.environ[_NO_PROXY] = ",".join(filter(None, [others, host]))
    jax.config.update("jax_check_proxy_envs", False)  # its warning does not apply
    try:
        yield
    finally:
        if before is None:
            del os.environ[_NO_PROXY]
        else:
            os.environ[_NO_PROXY] = before


def _leave(process: int) -> None:
    """Leaves with the others when the script ends: to leave alone would take them down."""
    if os.getpid() == process and _joined and _joined.watchdog:
        failures.report_exit()
        _joined.watchdog.end()
