"""A Slurm batch script: one task per node, with TF_CONFIG made from the nodes that Slurm allocates.

Tasks that train synchronously are one step, which starts again when one of them fails. With parameter servers each task is a
step of its own, under a copy of the shell that starts it again.
"""

import json
import shlex
from collections.abc import Sequence

from spmd.cluster import RESTART_VARIABLE
from spmd.errors import LaunchError
from spmd.launch.job import Job
from spmd.launch.write_tf_config import cluster_of

_HEAD = r"""#!/bin/bash
{directives}
#
# {job.title}, one on each node. Written by jaxtribute launch --render slurm.
#
#   sbatch --partition=... --time=... THIS_FILE
#
"""

_NODES = r"""set -u
{exports}
tasks=({tasks})
mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
if ((${{#hosts[@]}} != ${{#tasks[@]}})); then
  echo "Expected ${{#tasks[@]}} nodes, but Slurm gave ${{#hosts[@]}}: ${{hosts[*]}}. Write --nodes=${{#tasks[@]}}." >&2
  exit 2
fi
# Slurm has queued the job again after time limits and preemptions, which `max_interruptions` bounds.
if ((${{SLURM_RESTART_COUNT:-0}} > {job.max_interruptions})); then
  echo "The job has been queued again $SLURM_RESTART_COUNT times, more than --max-interruptions {job.max_interruptions} allows." >&2
  exit 1
fi
"""

_TOKEN = r"""
# A secret that the tasks prove to each other, unless there is one. Only you can read the file, which is on all nodes.
folder=$PWD/.{job.name}-$SLURM_JOB_ID
(umask 077 && mkdir -p "$folder")
trap 'rm -rf "$folder"' EXIT
if [[ -z ${{RAY_AUTH_TOKEN:-}}${{RAY_AUTH_TOKEN_PATH:-}} ]]; then
  export RAY_AUTH_TOKEN_PATH=$folder/token
  (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$RAY_AUTH_TOKEN_PATH")
fi
"""

# Both scripts define `start`. Bash looks variables up in the functions that call, so each supervisor has its own.
_LOOP = r"""
step="" stopped="" again="" status=0
stop() {{
  stopped=1
  [[ -z $step ]] || kill -TERM "$step" 2>/dev/null
}}
# Waits until the step has ended: a signal ends `wait`, not the step.
wait_for_step() {{
  wait "$step"
  status=$?
  while kill -0 "$step" 2>/dev/null; do
    wait "$step"
    status=$?
  done
  step=""
}}
# Starts a step until it has ended well, or is told to stop; fails if it has failed too often. A task that serves never ends well.
run_again() {{
  local name=$1 serves=${{2:-}} attempt delay
  for ((attempt = 0; ; attempt++)); do
    export {restart_variable}=$((${{SLURM_RESTART_COUNT:-0}} + attempt))
    start
    step=$!
    [[ -z $stopped ]] || stop  # told between these two lines
    wait_for_step
    if [[ -n $stopped ]] || {{ ((status == 0)) && [[ -z $serves ]]; }}; then return 0; fi
    if ((attempt >= {job.max_restarts})); then return 1; fi
    delay=$((1 << (attempt < 6 ? attempt : 6)))
    echo "$name ended with exit status $status; restart $((attempt + 1)) of {job.max_restarts} in $delay s." >&2
    sleep "$delay" &
    wait $!
    [[ -z $stopped ]] || return 0
  done
}}
trap stop TERM  # scancel, or a preemption, after which Slurm queues the job again by itself
trap 'again=1; stop' USR1  # the time limit is near
"""

_STEP_COMMENT = r"""# The step starts again up to {job.max_restarts} times when a task fails: from the last checkpoint if the script restores it.
# {job.grace_seconds} s before the time limit the tasks get SIGTERM to save what they have, and the job is queued again.
"""

_STEP = r"""
export TASKS="${{tasks[*]}}"
# Runs on each node: which task is this one?
task='
read -ra tasks <<<"$TASKS"
type=${{tasks[SLURM_PROCID]%:*}} index=${{tasks[SLURM_PROCID]#*:}}
export TF_CONFIG="{{\"cluster\": $CLUSTER, \"task\": {{\"type\": \"$type\", \"index\": $index}}}}"
exec "$@"'

start() {{
  # Ten ports for each job, as others may run on these nodes; another one each time: the former may not be free.
  port=$(({job.port} + SLURM_JOB_ID % 1000 * 10 + attempt % 10))
  export CLUSTER="{cluster}"
  srun --kill-on-bad-exit=1 --label bash -c "$task" task {command} &
}}
run_again "The step"
"""

_STEPS_COMMENT = r"""# Each task starts again alone, up to {job.max_restarts} times. When the chief has ended, so do the others.
# {job.grace_seconds} s before the time limit the chief gets SIGTERM to save what the servers hold, and the job is queued again.
# What workers and servers print is in files of their own.
"""

_STEPS = r"""
# The ports stay the same, since the others know them. Ten for each job, as others may run on these nodes.
port=$(({job.port} + SLURM_JOB_ID % 1000 * 10))
cluster="{cluster}"

start() {{
  srun --nodes=1 --ntasks=1 --nodelist="$host" ${{output[@]+"${{output[@]}}"}} {command} &
}}
# Runs one task, again and again until it has ended well, or failed too often.
supervise() {{
  local number=$1 type=${{tasks[$1]%:*}} index=${{tasks[$1]#*:}} host=${{hosts[$1]}}
  local step="" stopped="" status=0 output=() serves=""
  trap stop TERM  # a copy of the shell has no traps
  export TF_CONFIG="{{\"cluster\": $cluster, \"task\": {{\"type\": \"$type\", \"index\": $index}}}}"
  if [[ $type == ps ]]; then export JAX_PLATFORMS=cpu; fi  # it holds values in host memory
  if [[ $type != chief ]]; then serves=1; fi
  if ((number)); then output=(--output="{job.name}-$SLURM_JOB_ID-$type-$index.out" --open-mode=append); fi
  if run_again "$type $index" "$serves"; then exit "$status"; fi
  echo "$type $index ended with exit status $status, and all {job.max_restarts} restarts are used up." >&2
  touch "$folder/lost-$number"
  if [[ $type != chief ]]; then kill -USR2 $$; fi
  exit "$((status ? status : 1))"
}}
# The chief goes on without some workers, but not without a parameter server, or any worker.
lose() {{
  local number workers=""
  for ((number = 1; number < ${{#tasks[@]}}; number++)); do
    if [[ -e $folder/lost-$number ]]; then
      if [[ ${{tasks[number]}} == ps:* ]]; then stop; fi
    elif [[ ${{tasks[number]}} == worker:* ]]; then
      workers=1
    fi
  done
  [[ -n $workers ]] || stop
}}
trap lose USR2
for number in "${{!tasks[@]}}"; do
  supervise "$number" &
  if ((number == 0)); then step=$!; else servers+=($!); fi
done
wait_for_step
kill -TERM "${{servers[@]}}" 2>/dev/null
wait
"""

_END = r"""if ((status != 0)) && [[ -n $again ]]; then scontrol requeue "$SLURM_JOB_ID"; fi
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
    tasks, alone = job.roles.cluster, job.roles.ps > 0
    directives = [
        f"--job-name={job.name}",
        f"--nodes={len(tasks)}",
        "--ntasks-per-node=1",
        f"--signal=B:USR1@{job.grace_seconds}",
        "--requeue",
        "--open-mode=append",
        *(["--no-kill"] if alone else []),  # a node that is lost does not end the job
    ]
    if job.devices_per_worker is not None and not job.on_cpu:
        directives.append(f"--gpus-per-node={job.devices_per_worker}")
    if hosts:
        directives.append(f"--nodelist={','.join(hosts)}")
    cluster = cluster_of(tasks, [f"${{hosts[{i}]}}:$port" for i in range(len(tasks))])
    exports = [f"export {name}={shlex.quote(value)}" for name, value in job.variables.items()]
    # sbatch passes the variables of its own environment on.
    exports += [
        f'export {name}="${{{name}:?is not set: export it before sbatch}}"'
        for name in job.references
    ]
    parts = [_HEAD, _STEPS_COMMENT if alone else _STEP_COMMENT, _NODES]
    parts += [_TOKEN] if job.token or alone else []
    parts += [_LOOP, _STEPS if alone else _STEP, _END]
    return "".join(parts).format(
        directives="\n".join(f"#SBATCH {directive}" for directive in directives),
        job=job,
        exports="\n".join(exports),
        tasks=" ".join(f"{task.task_type}:{task.task_index}" for task in tasks),
        cluster=json.dumps(cluster).replace('"', r"\""),  # the shell fills in hosts and port
        restart_variable=RESTART_VARIABLE,
        command=shlex.join(job.command),
    )
