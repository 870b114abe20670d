"""`jaxtribute launch`: one script as several tasks that train together.

A *task* is a process with a type and an index, such as `worker 1`; TF_CONFIG tells it the others. The
*launcher* is the process that starts tasks, shows their output and passes signals on. Tasks that train are
a *gang*: when one fails, all start again, in the next *attempt*. To *render* is to write down what another
machine, Slurm or Kubernetes shall start.
"""

from spmd.launch.command import launch
from spmd.launch.hosts import render_hosts
from spmd.launch.job import Job
from spmd.launch.jobset import render_jobset
from spmd.launch.kubernetes import render_kubernetes
from spmd.launch.pod import PodOptions
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.slurm import render_slurm
from spmd.launch.supervisor import Patience, supervise
from spmd.launch.tasks import Roles, Task
from spmd.launch.tfjob import render_tfjob

__all__ = [
    "Job",
    "Patience",
    "PodOptions",
    "RestartPolicy",
    "Roles",
    "Task",
    "launch",
    "render_hosts",
    "render_jobset",
    "render_kubernetes",
    "render_slurm",
    "render_tfjob",
    "supervise",
]
