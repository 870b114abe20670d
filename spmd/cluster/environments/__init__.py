"""Where a process learns about its cluster: a module for each of TF_CONFIG and Slurm, and what JAX finds by itself."""
