"""The `jaxtribute` command.

A *subcommand* is one function: its name is the command's name, the first line of its docstring the
help text. It adds its arguments to the parser that it receives, and returns a function that runs once
they are parsed. `COMMANDS` lists the subcommands; adding one there is all it takes. Other packages, such as a front end, add
theirs as entry points of the group `jaxtribute.commands`: these are imported only when they are asked for, by name or by
the list that `--help` prints.
"""

import argparse
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata

import jax
from jax.extend.backend import backends
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spmd.cluster import Cluster, TFConfig, from_slurm, from_tasks, from_tf_config, read_tf_config
from spmd.errors import ClusterConfigError, SpmdError
from spmd.launch import launch
from spmd.plan import plan_command

_ENTRY_POINTS = "jaxtribute.commands"
_PACKAGES = ("jaxtribute", "jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "grain", "keras")

Run = Callable[[argparse.Namespace], int]


def info(parser: argparse.ArgumentParser) -> Run:
    """Show versions, devices and the cluster that TF_CONFIG describes.

    Args:
        parser: the parser of this subcommand; it takes no arguments.

    Returns:
        A function that prints the table and returns the exit status: 0 if JAX finds devices.
    """
    del parser

    def run(_: argparse.Namespace) -> int:
        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_row("python", f"{platform.python_version()} ({sys.executable})")
        for package in _PACKAGES:
            table.add_row(package, package_version(package) or "not installed")
        table.add_row("TF_CONFIG", Text(describe_tf_config(os.environ.get("TF_CONFIG"))))
        try:
            devices = device_counts()
        except RuntimeError as error:  # JAX_PLATFORMS names a platform that is missing
            table.add_row("devices", Text(f"none: {error}"))
            devices = {}
        for name, count in devices.items():
            table.add_row(f"{name} devices", str(count))
        Console(soft_wrap=True, highlight=False).print(table)
        return 0 if devices else 1

    return run


_SERVER_EXAMPLES = """\
examples:
  the first of two workers that a program elsewhere trains on:
    jaxtribute server --cluster '{"worker": ["host0:2222", "host1:2222"]}' --job worker --index 0

  the task that TF_CONFIG names, or a task of a Slurm step:
    jaxtribute server

Ray serves, and authenticates every connection: give all tasks, and the programs
that connect, the same secret token, in a file that RAY_AUTH_TOKEN_PATH names.
"""


def server(parser: argparse.ArgumentParser) -> Run:
    """Serve as a task of a cluster, for programs that connect from elsewhere, until killed.

    Args:
        parser: the parser of this subcommand; its arguments are added here.

    Returns:
        A function that serves; it returns 1 if the task's address is in use, and 2 if it is not known as which task to
        serve, or if this task cannot serve.
    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _SERVER_EXAMPLES
    parser.add_argument(
        "--cluster",
        metavar="JSON",
        help="addresses of all tasks, by job (default: from TF_CONFIG, or Slurm)",
    )
    parser.add_argument("--job", help="job of this task (default: worker)")
    parser.add_argument("--index", type=int, metavar="N", help="index of this task (default: 0)")

    def run(options: argparse.Namespace) -> int:
        try:
            found = served_task(options.cluster, options.job, options.index, os.environ)
            job, index = found.task_type, found.task_index
            from spmd.servers import remote

            head = remote.head_of(found.jobs)
            try:
                address, head_name = found.jobs[job][index], remote.name_of(head, found.jobs)
                remote.serve(f"{job}_{index}", address, head, head_name, found.source)
            except remote.AddressInUseError as error:
                print(f"jaxtribute server: {error}", file=sys.stderr)
                return 1
        except ModuleNotFoundError as error:
            if error.name != "ray":
                raise
            print(
                'jaxtribute server: needs Ray. Install it: pip install "jaxtribute[ray]"',
                file=sys.stderr,
            )
        except SpmdError as error:
            print(f"jaxtribute server: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            return 130
        return 2

    return run


COMMANDS: tuple[Callable[[argparse.ArgumentParser], Run], ...] = (
    info,
    launch,
    plan_command,
    server,
)


def commands_for(words: Sequence[str]) -> dict[str, Callable[[argparse.ArgumentParser], Run]]:
    """Gathers the subcommands, by name; imports another package's only if it may be meant.

    Args:
        words: the words after `jaxtribute`.

    Examples:
        >>> list(commands_for(["info"]))
        ['info', 'launch', 'plan', 'server']
    """
    commands = {command.__name__.replace("_", "-"): command for command in COMMANDS}
    wanted = words[0] if words else "--help"
    if wanted in commands or wanted == "--version":
        return commands
    added = metadata.entry_points(group=_ENTRY_POINTS)
    asked = [one for one in added if one.name == wanted]
    return commands | {one.name: one.load() for one in asked or added}


def served_task(
    cluster: str | None, job: str | None, index: int | None, environment: Mapping[str, str]
) -> Cluster:
    """Finds out as which task of which cluster to serve.

    Args:
        cluster: JSON with the addresses of the tasks, by job; None looks for TF_CONFIG, then for a Slurm step.
        job: job of the task; None takes what TF_CONFIG or Slurm says.
        index: index of the task, likewise.
        environment: environment variables.

    Returns:
        The cluster, with the task as its own.

    Raises:
        ClusterConfigError: there is no cluster, or no such task.

    Examples:
        >>> print(served_task('{"worker": ["a:1", "b:1"]}', "worker", 1, {}).task)
        worker 1
    """
    config = read_tf_config(environment) if cluster is None else _read_cluster(cluster)
    if cluster is not None or config.jobs:
        if cluster is not None or job is not None:
            _check_job(config.jobs, job)
        if job is None:
            job = "worker" if cluster is not None else config.task_type
        if index is not None and job is not None:
            _check_index(config.jobs, job, index)
        elif index is None:
            index = 0 if cluster is not None else config.task_index
        found = from_tasks(config.jobs, job, index, config.source)
    else:
        found = from_slurm(environment)
    if found is None:
        raise ClusterConfigError(
            "No cluster is given, and neither TF_CONFIG nor Slurm names one. Write --cluster "
            """'{"worker": ["host0:2222", "host1:2222"]}' --job worker --index 0.""",
            key="cluster",
        )
    if found.task.address is None:
        raise ClusterConfigError(
            f"{found.task} is not in {found.source}, so nobody would find it. Add its address.",
            key="cluster",
        )
    return found


def _read_cluster(text: str) -> TFConfig:
    try:
        problem = None if isinstance(json.loads(text), dict) else ""
    except ValueError as error:
        problem = f", which is not valid JSON: {error}"
    if problem is not None:
        raise ClusterConfigError(
            f"--cluster must be a JSON object, but it is {text!r:.80}{problem}. Write --cluster "
            """'{"worker": ["host0:2222", "host1:2222"]}', with single quotes for the shell and double quotes in the JSON.""",
            key="cluster",
        )
    return read_tf_config(f'{{"cluster": {text}}}', text_source="--cluster")


def _check_job(jobs: Mapping[str, Mapping[int, str]], job: str | None) -> None:
    """Checks the job that --job names, or does not name, against the cluster."""
    if not jobs or job == "evaluator" or (job or "worker") in jobs:
        return
    listed = ", ".join(f"{len(tasks)} {name}" for name, tasks in jobs.items())
    given = "not given" if job is None else f'"{job}"'
    raise ClusterConfigError(
        f"--job is {given}, but the cluster has {listed}. Write --job {next(iter(jobs))}, or add the "
        f"addresses of {job or 'worker'} to the cluster.",
        key="task.type",
    )


def _check_index(jobs: Mapping[str, Mapping[int, str]], job: str, index: int) -> None:
    """Checks the index that --index names against the cluster."""
    count = len(jobs.get(job, ()))
    if count and not 0 <= index < count:
        raise ClusterConfigError(
            f"--index is {index}, but the cluster lists {count} {job}(s): indices are 0 to {count - 1}. Write one of "
            f"these, or add the address of {job} {index} to the cluster.",
            key="task.index",
        )


def package_version(package: str) -> str | None:
    """Reads the version of an installed distribution, without importing it.

    Args:
        package: the distribution's name on PyPI.

    Returns:
        The version, or None if the distribution is not installed.

    Examples:
        >>> package_version("no-such-distribution") is None
        True
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def device_counts() -> dict[str, int]:
    """Counts this process's devices; starts JAX's backends, but joins no cluster.

    Returns:
        The number of devices of each platform and kind, as in `{"gpu (NVIDIA H200)": 8, "cpu": 1}`,
        the platform that JAX uses by default first.

    Raises:
        RuntimeError: a platform that `JAX_PLATFORMS` names cannot be started.

    Examples:
        >>> device_counts()["cpu"] >= 1
        True
    """
    found = list(jax.local_devices())
    for backend in backends():
        # A platform may have two names ("gpu" and "cuda"), so compare devices, not names.
        found.extend(device for device in jax.local_devices(backend=backend) if device not in found)
    counts: Counter[str] = Counter()
    for device in found:
        kind, name = device.device_kind, device.platform
        counts[name if kind.lower() == name else f"{name} ({kind})"] += 1
    return dict(counts)


def describe_tf_config(text: str | None) -> str:
    """Summarizes the environment variable TF_CONFIG for a person.

    Args:
        text: the variable's value, or None if it is unset.

    Returns:
        One line: that it is unset, which task of which cluster this is, or what is wrong with it.

    Examples:
        >>> describe_tf_config(None)
        'not set (one process)'
        >>> describe_tf_config(
        ...     '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
        ... )
        'worker 1 in a cluster of 2 x worker'
    """
    try:
        cluster = from_tf_config({"TF_CONFIG": text or ""})
    except ClusterConfigError as error:
        return f"set, but wrong: {error}"
    if cluster is None:
        return f"{'names no cluster' if text else 'not set'} (one process)"
    sizes = ", ".join(f"{len(addresses)} x {job}" for job, addresses in cluster.jobs.items())
    return f"{cluster.task} in a cluster of {sizes}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: the words after `jaxtribute`; None takes those of this process.

    Returns:
        The exit status: 0 for success, 2 if no command was given.

    Raises:
        SystemExit: after `--help` and `--version`, and with status 2 for invalid arguments.

    Examples:
        >>> main(["info", "--help"])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        SystemExit: 0
    """
    parser = argparse.ArgumentParser(
        prog="jaxtribute", description="SPMD training on JAX, compiled by XLA."
    )
    version = package_version("jaxtribute") or "(version unknown: not installed)"
    parser.add_argument("--version", action="version", version=f"jaxtribute {version}")
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(metavar="COMMAND")
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name, command in commands_for(words).items():
        summary = (command.__doc__ or "").partition("\n")[0]
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        subparser.set_defaults(run=command(subparser))
    for_script: list[str] = []
    if words[:1] == ["plan"] and "--" in words:
        # argparse would take options of the script for ours.
        words, for_script = words[: words.index("--")], words[words.index("--") + 1 :]
    options = parser.parse_args(words)
    options.arguments = for_script
    if options.run is None:
        parser.print_help(sys.stderr)
        return 2
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
