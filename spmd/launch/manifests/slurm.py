"""A Slurm batch script: one task per node, with TF_CONFIG made from the nodes that Slurm allocates."""

import json
import shlex
from collections.abc import Sequence

from spmd.errors import LaunchError
from spmd.launch.job import RESTART_VARIABLE, Job
from spmd.launch.write_tf_config import cluster_of

_SCRIPT = r"""#!/bin/bash
{directives}
#
# {job.title}, one on each node. Written by jaxtribute launch --render slurm.
#
#   sbatch --partition=... --time=... THIS_FILE
#
# The step starts again up to {job.max_restarts} times when a task fails: from the last checkpoint if the script restores it.
# {job.grace_seconds} s before the time limit the tasks get SIGTERM to save what they have, and the job is queued again.
set -u
{exports}
tasks=({tasks})
export TASKS="${{tasks[*]}}"
mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
if ((${{#hosts[@]}} != ${{#tasks[@]}})); then
  echo "Expected ${{#tasks[@]}} nodes, but Slurm gave ${{#hosts[@]}}: ${{hosts[*]}}. Write --nodes=${{#tasks[@]}}." >&2
  exit 2
fi

# Runs on each node: which task is this one?
task='
read -ra tasks <<<"$TASKS"
type=${{tasks[SLURM_PROCID]%:*}} index=${{tasks[SLURM_PROCID]#*:}}
export TF_CONFIG="{{\"cluster\": $CLUSTER, \"task\": {{\"type\": \"$type\", \"index\": $index}}}}"
exec "$@"'

step="" stopped="" again=""
stop() {{
  stopped=1
  [[ -z $step ]] || kill -TERM "$step"
}}
trap stop TERM  # scancel, or a preemption, after which Slurm queues the job again by itself
trap 'again=1; stop' USR1  # the time limit is near
for ((attempt = 0; ; attempt++)); do
  # Ten ports for each job, as others may run on these nodes; another one each time: the former may not be free.
  port=$(({job.port} + SLURM_JOB_ID % 1000 * 10 + attempt % 10))
  export CLUSTER="{cluster}"
  export {restart_variable}=$((${{SLURM_RESTART_COUNT:-0}} + attempt))
  srun --kill-on-bad-exit=1 --label bash -c "$task" task {command} &
  step=$!
  wait "$step"
  status=$?
  while [[ -n $stopped ]] && kill -0 "$step" 2>/dev/null; do  # a signal ends `wait`, not the step
    wait "$step"
    status=$?
  done
  step=""
  if ((status == 0)) || [[ -n $stopped ]] || ((attempt >= {job.max_restarts})); then break; fi
  delay=$((1 << (attempt < 6 ? attempt : 6)))
  echo "The step ended with exit status $status; restart $((attempt + 1)) of {job.max_restarts} in $delay s." >&2
  sleep "$delay" &
  wait $!
  [[ -z $stopped ]] || break
done
if ((status != 0)) && [[ -n $again ]]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit "$status"
"""


def render_slurm(job: Job, hosts: Sequence[str] = ()) -> str:
    """Writes a batch script for `sbatch`, which requests the given hosts, if any.

    Raises:
        LaunchError: there is an evaluator.

    Source: https://slurm.schedmd.com/sbatch.html
    """
    if job.roles.evaluator:
        raise LaunchError(
            "A Slurm step ends when all of its tasks have, but an evaluator runs for longer. Leave --evaluator "
            "out, and submit a job of its own whose TF_CONFIG has the task "
            '{"type": "evaluator", "index": 0}.'
        )
    training = job.roles.cluster
    directives = [
        f"--job-name={job.name}",
        f"--nodes={len(training)}",
        "--ntasks-per-node=1",
        f"--signal=B:USR1@{job.grace_seconds}",
        "--requeue",
        "--open-mode=append",
    ]
    if job.devices_per_worker is not None and not job.on_cpu:
        directives.append(f"--gpus-per-node={job.devices_per_worker}")
    if hosts:
        directives.append(f"--nodelist={','.join(hosts)}")
    cluster = cluster_of(training, [f"${{hosts[{i}]}}:$port" for i in range(len(training))])
    exports = (f"export {name}={shlex.quote(value)}" for name, value in job.variables.items())
    return _SCRIPT.format(
        directives="\n".join(f"#SBATCH {directive}" for directive in directives),
        job=job,
        exports="\n".join(exports),
        tasks=" ".join(f"{task.task_type}:{task.task_index}" for task in training),
        cluster=json.dumps(cluster).replace('"', r"\""),  # the shell fills in hosts and port
        restart_variable=RESTART_VARIABLE,
        command=shlex.join(job.command),
    )
