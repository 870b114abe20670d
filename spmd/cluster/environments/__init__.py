"""Where a process learns its cluster from: TF_CONFIG, Slurm, or what JAX detects."""
