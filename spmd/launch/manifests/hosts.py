"""The command for each host, for a cluster with nothing but a shell on each machine."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from spmd.errors import LaunchError
from spmd.launch.checks import address_of, check_all_differ
from spmd.launch.job import DEFAULT_PORT, Job
from spmd.launch.tasks import Roles, check_workers_only
from spmd.launch.token import TOKEN_PATH_VARIABLE
from spmd.launch.write_tf_config import cluster_of, write_tf_config


def read_hosts(text: str, port: int = DEFAULT_PORT) -> list[str]:
    """Reads a list of hosts, each of which may be followed by `:` and a port.

    Args:
        text: comma-separated names or addresses, or a file with one per line; `#` starts a comment.
        port: of hosts without one.

    Raises:
        LaunchError: the list is empty, the file cannot be read, a host is none, or two are the same.

    Examples:
        >>> read_hosts("a, b:2300")
        ['a', 'b:2300']
    """
    if _is_file(text):
        try:
            lines = [line.partition("#")[0] for line in Path(text).read_text().splitlines()]
        except (OSError, UnicodeDecodeError) as error:
            raise LaunchError(
                f"Expected a file with a host on each line, but {text} cannot be read: {error}"
            ) from error
        where = f"the file {text}"
    else:
        lines, where = text.split(","), f"--hosts {text}"
    hosts = [line.strip() for line in lines if line.strip()]
    if not hosts:
        raise LaunchError(f"Expected hosts, but {where} names none. Write --hosts host0,host1.")
    check_all_differ([address_of(host, port) for host in hosts], hosts)
    return hosts


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # longer than a path can be
        return False


def roles_on(
    hosts: Sequence[str], workers: int | None, chief: bool, evaluator: bool, ps: int = 0
) -> Roles:
    """Assigns each host, if any are given, a task: the chief first, then workers, parameter servers, the evaluator.

    Without a number of workers there are as many as hosts are left for, or one.

    Raises:
        LaunchError: there are more or fewer hosts than tasks.

    Examples:
        >>> roles_on(["a", "b", "c"], None, chief=True, evaluator=False).workers
        2
    """
    if workers is None:
        workers = len(hosts) - chief - evaluator - ps if hosts else 1
    roles = Roles(workers, chief, evaluator, ps)
    if hosts and len(roles.all) != len(hosts):
        raise LaunchError(
            f"Expected a host for each of {len(roles.all)} tasks ({', '.join(map(str, roles.all))}), but there are "
            f"{len(hosts)}: {', '.join(hosts)}. Leave --workers out to have one on each host."
        )
    return roles


def render_hosts(job: Job, hosts: Sequence[str]) -> str:
    """Writes the shell command for each host, under a comment that names its task and host.

    Examples:
        >>> print(render_hosts(Job("train", ("train.py",), Roles(1)), ["a"]).splitlines()[-1])
        PYTHONUNBUFFERED=1 TF_CONFIG='{"cluster": {"worker": ["a:2222"]}, "task": {"type": "worker", "index": 0}}' python train.py
    """
    addresses = [address_of(host, job.port) for host in hosts]
    if job.roles.min_workers is not None:
        return _render_agents(job, addresses[0], hosts)
    tasks = job.roles.cluster
    cluster = cluster_of(tasks, addresses[: len(tasks)])
    lines = _head(job)
    for task, host in zip(job.roles.all, hosts, strict=True):
        variables = job.variables_of(task.task_type)
        if job.devices_per_worker is not None and not job.on_cpu and task.task_type != "ps":
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(job.devices_per_worker)))
        variables["TF_CONFIG"] = write_tf_config(cluster, task)
        words = [*_assignments(job, variables), shlex.join(job.command)]
        lines += ["", f"# {task}, on {host}", " ".join(words)]
    return "\n".join(lines) + "\n"


def _assignments(job: Job, variables: Mapping[str, str]) -> list[str]:
    """Writes environment variables of a command, those among them whose values are not written down."""
    words = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    words += [
        f'{name}="${{{name}:?is not set on this host}}"'
        for name in job.references
        if name not in variables
    ]
    if job.token:
        words.append(f"{TOKEN_PATH_VARIABLE}={_token_path(job)}")
    return words


def _render_agents(job: Job, endpoint: str, hosts: Sequence[str]) -> str:
    """Writes the command of an elastic job, which is the same on all hosts."""
    check_workers_only(job.roles, "--workers MIN:MAX")
    lines = [
        f"# {job.title}, or {job.roles.min_workers} at least. Start it on each of {', '.join(hosts)}, in any order and whenever you like,",
        f"# in a directory with the same files. {hosts[0]} leads: the others wait for it.",
        *_secret(job),
        "",
        " ".join([*_assignments(job, job.environment), shlex.join(job.agent_command(endpoint))]),
    ]
    return "\n".join(lines) + "\n"


def _head(job: Job) -> list[str]:
    if job.roles.ps:
        lines = [
            f"# {job.title}. Start each on its host, in any order, in a directory with the same files. If one",
            "# fails, start it again: the others wait for it. When the chief has ended, stop the workers and parameter servers.",
        ]
    else:
        lines = [
            f"# {job.title}. Start each on its host, all within the cluster's start-up time-out, in a directory with",
            "# the same files. If one fails, stop all and start all again; a script that restores its last checkpoint goes on.",
        ]
    return lines + _secret(job)


def _secret(job: Job) -> list[str]:
    if not job.token:
        return []
    path = _token_path(job)
    return [
        "#",
        f"# First make a secret, once, and copy it to {path} on every host:",
        f"#   mkdir -p -m 700 {PurePath(path).parent}; (umask 077; openssl rand -hex 32 > {path})",
    ]


def _token_path(job: Job) -> str:
    return f"~/.jaxtribute/{job.name}.token"
