"""A job written down for other machines to start: Kubernetes, JobSet, TFJob, Slurm, plain hosts."""
