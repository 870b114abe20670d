"""The subcommand `jaxtribute launch`: parses its options and acts on them."""

import argparse
import dataclasses
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spmd.cluster import RESTART_VARIABLE
from spmd.errors import LaunchError
from spmd.launch.agents.agent import Rendezvous, run_agent
from spmd.launch.agents.leader import Patience
from spmd.launch.checks import (
    address_of,
    check_number,
    check_port,
    check_variable,
    read_workers,
)
from spmd.launch.job import (
    DEADLINE_SECONDS,
    DEFAULT_PORT,
    JOB_VARIABLE,
    JOIN_SECONDS,
    MAX_INTERRUPTIONS,
    SETTLE_SECONDS,
    Job,
    name_of,
)
from spmd.launch.manifests.hosts import read_hosts, render_hosts, roles_on
from spmd.launch.manifests.jobset import render_jobset
from spmd.launch.manifests.kubernetes import render_kubernetes
from spmd.launch.manifests.pod import PodOptions
from spmd.launch.manifests.raycluster import render_raycluster
from spmd.launch.manifests.slurm import render_slurm
from spmd.launch.manifests.tfjob import render_tfjob
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.supervisor import supervise
from spmd.launch.tasks import Roles, check_workers_only
from spmd.launch.token import TOKEN_PATH_VARIABLE, TOKEN_VARIABLE, token_to_render
from spmd.topology import SIMULATE_VARIABLE

_MANIFESTS = {
    "kubernetes": render_kubernetes,
    "tfjob": render_tfjob,
    "jobset": render_jobset,
    "raycluster": render_raycluster,
}

# Which of them an elastic job has.
_ELASTIC = ("kubernetes", "jobset")

_EXAMPLES = """\
examples:
  two workers on this machine, with two simulated devices each:
    jaxtribute launch --workers 2 --devices-per-worker 2 train.py --epochs 3

  a chief, two workers and an evaluator, running a module:
    jaxtribute launch --chief --workers 2 --evaluator -m my_package.train

  four workers, or down to two after some were killed:
    jaxtribute launch --workers 2:4 train.py

  the same with one worker on each machine, on which this is to be run:
    jaxtribute launch --rendezvous node0 --workers 2:4 train.py

  asynchronous training, with two parameter servers and four workers:
    jaxtribute launch --ps 2 --workers 4 --chief train.py

  a TPU script without a TPU, on simulated devices:
    jaxtribute launch --simulate tpu:v5e-8 train.py

  the command of each of three machines:
    jaxtribute launch --hosts node0,node1,node2 train.py

  a Slurm script for four nodes with eight GPUs each:
    jaxtribute launch --workers 4 --devices-per-worker 8 --render slurm train.py

  the same on Kubernetes:
    jaxtribute launch --workers 4 --devices-per-worker 8 --render jobset \\
      --image REGISTRY/train:1 --volume checkpoints:/checkpoints train.py |
      kubectl apply --filename -

TF_CONFIG tells every task its place in the cluster, JAXTRIBUTE_RESTART the
number of restarts so far. When a task fails, all that train start again: from
the last checkpoint if the script restores it, else from the beginning. With
parameter servers each task starts again alone, and the job ends with the chief.
Ctrl-C asks all to end; a second one kills them.

The exit status is 0 if all tasks succeeded, 2 if nothing could be started, and
otherwise that of the task that failed first: 128 + N if signal N ended it.
"""


_HELP = {
    "what to run": {
        "script": "a Python file and its arguments",
        "-m": "MODULE ARGUMENT ...: a module instead of a script",
    },
    "tasks": {
        "--workers": "number of workers, besides the chief if there is one (default: 1, or one per host); MIN:MAX goes on with fewer, down to MIN, after some are lost",
        "--chief": "add a chief; without one, worker 0 is the chief",
        "--ps": "number of parameter servers, for asynchronous training (default: 0); the chief then coordinates, and is added",
        "--evaluator": "add an evaluator, which reads the others' checkpoints",
        "--devices-per-worker": "GPUs per task, or simulated devices where there are none (default: an equal share of the GPUs)",
        "--simulate": "simulated accelerators of the whole job, on this machine's processor: tpu:8, tpu:v5e-8, gpu:8",
        "--env": "set an environment variable for all tasks; may be repeated; without =VALUE its value, a secret, is not written down",
    },
    "when a task fails": {
        "--max-restarts": "how often all tasks start again, with --ps each of them (default: 3)",
        "--backoff-seconds": "wait before the first restart; doubles each time, up to 60 (default: 1)",
        "--grace-seconds": "time between SIGTERM and SIGKILL (default: 30)",
        "--regrow-seconds": "how long --workers MIN:MAX runs with fewer than MAX before all start again (default: 300; 0: for ever)",
        "--evaluator-seconds": "how long the evaluator may run after the training (default: 300)",
    },
    "one worker on each of several machines, run on all of them": {
        "--rendezvous": f"HOST or HOST:PORT where the agents of the job meet: the one on that host leads (port: {DEFAULT_PORT})",
        "--settle-seconds": "how long to wait for more agents before it starts with fewer than MAX (default: 30)",
        "--join-seconds": "how long agents wait for MIN of them, and for the one that leads (default: 600)",
        "--max-interruptions": "how often the job starts again because agents are lost or come, or without fault under Slurm or a JobSet (default: 100)",
    },
    "other machines: print, start nothing": {
        "--hosts": "hosts, or a file with one per line: print the command for each",
        "--render": "print a Slurm script, or a Kubernetes manifest: Indexed Jobs, a Kubeflow TFJob, a JobSet or KubeRay's RayCluster",
        "--name": "name of the job (default: from the script's)",
        "--port": f"port that tasks listen on (default: {DEFAULT_PORT})",
        "--deadline-seconds": "end the job after this time, whatever restarts (default: a week)",
        "--health-port": "port of the pods on which tasks answer probes and Prometheus (default: none)",
        "--token": "make a secret that tasks prove to each other when they meet, and programs elsewhere to jaxtribute server (default: on Kubernetes, if there are several tasks); with --ps or MIN:MAX there is one anyway",
        "--image": "container image of the pods",
        "--resource": "the cluster's name for the devices, such as google.com/tpu (default: nvidia.com/gpu)",
        "--volume": "mount a persistent volume claim, for checkpoints; may be repeated",
        "--node-selector": "run pods only on nodes with this label; may be repeated",
        "--user": "number of the user that the pods run as, without privileges (default: the image's)",
        "--queue": "Kueue's queue that admits the job, which is suspended until then",
    },
}


def _pair(separator: str) -> Callable[[str], tuple[str, str]]:
    def parse(text: str) -> tuple[str, str]:
        key, found, value = text.partition(separator)
        if not key or not found:
            raise argparse.ArgumentTypeError(f"expected KEY{separator}VALUE, not {text!r}")
        return key, value

    return parse


def _variable(text: str) -> tuple[str, str | None]:
    name, found, value = text.partition("=")
    return name, value if found else None


_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "script": {"nargs": argparse.REMAINDER, "metavar": "SCRIPT"},
    "-m": {"dest": "module", "nargs": argparse.REMAINDER, "metavar": "MODULE"},
    "--workers": {"metavar": "N|MIN:MAX"},
    "--chief": {"action": "store_true"},
    "--ps": {"type": int, "default": 0, "metavar": "N"},
    "--evaluator": {"action": "store_true"},
    "--devices-per-worker": {"type": int, "metavar": "N"},
    "--simulate": {"metavar": "KIND:N"},
    "--env": {"action": "append", "default": [], "type": _variable, "metavar": "K[=V]"},
    "--max-restarts": {"type": int, "default": 3, "metavar": "N"},
    "--backoff-seconds": {"type": float, "default": 1, "metavar": "S"},
    "--grace-seconds": {"type": float, "default": 30, "metavar": "S"},
    "--regrow-seconds": {"type": float, "default": 300, "metavar": "S"},
    "--evaluator-seconds": {"type": float, "default": 300, "metavar": "S"},
    "--rendezvous": {"metavar": "HOST[:PORT]"},
    "--settle-seconds": {"type": float, "default": SETTLE_SECONDS, "metavar": "S"},
    "--join-seconds": {"type": float, "default": JOIN_SECONDS, "metavar": "S"},
    "--hosts": {"metavar": "A,B,C"},
    "--render": {"choices": ["slurm", *_MANIFESTS]},
    "--name": {},
    "--port": {"type": int, "default": DEFAULT_PORT, "metavar": "P"},
    "--deadline-seconds": {"type": int, "default": DEADLINE_SECONDS, "metavar": "S"},
    "--max-interruptions": {"type": int, "default": MAX_INTERRUPTIONS, "metavar": "N"},
    "--health-port": {"type": int, "metavar": "P"},
    "--token": {"action": argparse.BooleanOptionalAction, "default": None},
    "--image": {"default": ""},
    "--resource": {"default": "nvidia.com/gpu", "metavar": "NAME"},
    "--volume": {"action": "append", "default": [], "type": _pair(":"), "metavar": "CLAIM:PATH"},
    "--node-selector": {"action": "append", "default": [], "type": _pair("="), "metavar": "K=V"},
    "--user": {"type": int, "metavar": "UID"},
    "--queue": {"default": "", "metavar": "NAME"},
}


def launch(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Start a script as several processes that train together, or print how to.

    Args:
        parser: the parser of this subcommand; its arguments are added here.

    Returns:
        A function that starts or prints, and returns the exit status: 2 if the request cannot be met.
    """
    parser.usage = (
        "jaxtribute launch [--workers N] [options] SCRIPT [ARGUMENT ...]\n"
        "       jaxtribute launch [--workers N] [options] -m MODULE [ARGUMENT ...]"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES

    for title, options in _HELP.items():
        group = parser.add_argument_group(title)
        for option, explanation in options.items():
            group.add_argument(option, help=explanation, **_SETTINGS[option])

    def run(options: argparse.Namespace) -> int:
        try:
            return _run(options)
        except LaunchError as error:
            print(f"jaxtribute launch: {error}", file=sys.stderr)
            return 2

    return run


def _run(options: argparse.Namespace) -> int:
    words = _words(options.script, options.module)
    variables = {name: value for name, value in options.env if value is not None}
    references = [name for name, value in options.env if value is None]
    for name in dict(options.env):
        check_variable(name, variables.get(name, ""))
    twice = [name for name, count in Counter(name for name, _ in options.env).items() if count > 1]
    if twice:
        raise LaunchError(
            f"Expected each variable once, but there are several --env {twice[0]}. Leave out all but one."
        )
    check_port("--port", str(options.port))
    if TOKEN_VARIABLE in variables:
        raise LaunchError(
            f"Expected no --env {TOKEN_VARIABLE}=..., since a command line shows its secrets to everyone. Write the token to a "
            f"file that only you can read, and set {TOKEN_PATH_VARIABLE} to its path, or leave it out to have one made."
        )
    for name in dict(options.env).keys() & {"TF_CONFIG", RESTART_VARIABLE, JOB_VARIABLE}:
        raise LaunchError(
            f"Expected no --env {name}=..., since every task gets a value of its own. Leave it out; --workers, --chief and "
            "--evaluator say which tasks there are."
        )
    if options.devices_per_worker is not None:
        check_number("--devices-per-worker", options.devices_per_worker, least=1)
    policy = RestartPolicy(
        options.max_restarts,
        options.backoff_seconds,
        options.grace_seconds,
        options.evaluator_seconds,
        options.regrow_seconds,
    )
    workers, least = (None, None) if options.workers is None else read_workers(options.workers)
    hosts = read_hosts(options.hosts, options.port) if options.hosts is not None else []
    chief = options.chief or options.ps > 0
    if chief and not options.chief:
        print(
            "jaxtribute launch: --ps adds a chief, which coordinates the workers; write --chief to say so.",
            file=sys.stderr,
        )
    roles = roles_on(hosts, workers, chief, options.evaluator, options.ps)
    if least is not None:
        roles = dataclasses.replace(roles, min_workers=least)
    if options.hosts is None and options.render is None:
        if words[0] != "-m" and not Path(words[0]).is_file():
            raise LaunchError(
                f"Expected a script, but there is no file {words[0]!r} in {Path.cwd()}. Options of the launcher come "
                "before the script, those of the script after it; a module is started with -m MODULE."
            )
        for name in references:
            if name not in os.environ:
                raise LaunchError(
                    f"Expected the value of {name} in the environment, since --env {name} has none, but it is not set. "
                    f"Write --env {name}=VALUE, or export it."
                )
        environment = {**os.environ, **variables}
        if options.simulate is not None:
            environment[SIMULATE_VARIABLE] = options.simulate
        if options.rendezvous is not None:
            rendezvous = _rendezvous(options, roles)
            return run_agent(
                words, roles, environment, options.devices_per_worker, policy, rendezvous
            )
        return supervise(words, roles, environment, options.devices_per_worker, policy)
    if options.rendezvous is not None:
        raise LaunchError(
            "Expected either --rendezvous, which starts a worker on this machine, or --hosts or --render, which print what other "
            "machines run, but there are both. Leave --rendezvous out: what is printed has it."
        )
    if least is not None and options.render not in (None, *_ELASTIC):
        raise LaunchError(
            f"Expected a fixed number of workers, since --render is {options.render}, but --workers is {options.workers}. Write "
            f"--workers {workers}, or --render kubernetes."
        )
    if options.simulate is not None:
        raise LaunchError(
            "Simulated devices are of this machine, but --hosts and --render start tasks elsewhere. Leave --simulate out, or "
            "leave out --hosts and --render."
        )
    job = Job(
        name=name_of(words[words[0] == "-m"]) if options.name is None else options.name,
        words=words,
        roles=roles,
        environment=variables,
        references=references,
        devices_per_worker=options.devices_per_worker,
        port=options.port,
        max_restarts=options.max_restarts,
        grace_seconds=round(options.grace_seconds),
        deadline_seconds=options.deadline_seconds,
        max_interruptions=options.max_interruptions,
        settle_seconds=options.settle_seconds,
        join_seconds=options.join_seconds,
        backoff_seconds=options.backoff_seconds,
        health_port=options.health_port,
        token=_token(options, roles, variables, references),
    )
    print(_render(options, job, hosts), end="")
    return 0


def _rendezvous(options: argparse.Namespace, roles: Roles) -> Rendezvous:
    """Checks what an agent is told."""
    check_workers_only(roles, "--rendezvous")
    if options.simulate is not None:
        raise LaunchError(
            "Expected real devices, since --rendezvous is for several machines, but there is --simulate. Write "
            "--devices-per-worker N --env JAX_PLATFORMS=cpu, or leave --rendezvous out."
        )
    check_number("--settle-seconds", options.settle_seconds)
    check_number("--join-seconds", options.join_seconds)
    check_number("--max-interruptions", options.max_interruptions)
    patience = Patience(options.settle_seconds, options.join_seconds, options.max_interruptions)
    endpoint = address_of(options.rendezvous, options.port, "--rendezvous")
    return Rendezvous(endpoint, patience)


def _token(
    options: argparse.Namespace,
    roles: Roles,
    variables: Mapping[str, str],
    references: Sequence[str],
) -> str:
    """Returns the secret to write down; empty if the tasks need none, or are told of one."""
    told = {TOKEN_VARIABLE, TOKEN_PATH_VARIABLE}.intersection(references)
    asked = options.token
    if asked is None:  # elsewhere it would have to be copied to every machine
        asked = options.render in _MANIFESTS and len(roles.cluster) > 1
    needed = roles.ps > 0 or roles.min_workers is not None or asked
    return token_to_render(os.environ, variables) if needed and not told else ""


def _render(options: argparse.Namespace, job: Job, hosts: Sequence[str]) -> str:
    if options.render is None:
        return render_hosts(job, hosts)
    if options.render == "slurm":
        return render_slurm(job, hosts)
    if hosts:
        raise LaunchError(
            f"Kubernetes chooses the nodes itself, so --render {options.render} takes no --hosts. Write --workers N, "
            "and --node-selector for the kind of node."
        )
    if len(dict(options.volume)) < len(options.volume):
        raise LaunchError(
            "Expected a path for each claim, but --volume names a claim twice. Mount it once, and use folders in it."
        )
    pods = PodOptions(
        options.image,
        options.resource,
        dict(options.volume),
        dict(options.node_selector),
        options.user,
        options.queue,
    )
    return _MANIFESTS[options.render](job, pods)


def _words(script: Sequence[str], module: Sequence[str] | None) -> tuple[str, ...]:
    """Returns the words after `python`."""
    words = ("-m", *module) if module is not None else tuple(script)
    if words[:1] == ("--",):
        words = words[1:]
    if not words or words == ("-m",):
        raise LaunchError(
            "Expected a script, but none is given. Write jaxtribute launch --workers 2 train.py, or -m MODULE; "
            "jaxtribute launch --help says more."
        )
    return words
