"""`jaxtribute launch`: one script as several tasks that train together.

A *task* is a process with a type and an index, such as `worker 1`; TF_CONFIG tells it about the others. The
*launcher* is the process that starts tasks, shows their output and forwards signals. The tasks that train are
a *gang*: when one fails, all start again, in the next *attempt*. With parameter servers each task is a gang of its
own, and workers and parameter servers *serve* until the chief has ended. To *render* is to write a manifest or
script that other machines, Slurm or Kubernetes start the job from.
"""

from spmd.launch.command import launch as launch
from spmd.launch.job import Job as Job
from spmd.launch.manifests.jobset import render_jobset as render_jobset
from spmd.launch.manifests.kubernetes import render_kubernetes as render_kubernetes
from spmd.launch.manifests.pod import PodOptions as PodOptions
from spmd.launch.manifests.raycluster import render_raycluster as render_raycluster
from spmd.launch.manifests.tfjob import render_tfjob as render_tfjob
from spmd.launch.tasks import Roles as Roles
