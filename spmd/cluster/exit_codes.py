"""What a task and whoever restarts it tell each other."""

# 128 + SIGTERM. Kubeflow's restart policy `ExitCode` treats codes from 128 on as retryable, and TensorFlow's
# PreemptionCheckpointHandler exits with this one after it has saved.
RETRYABLE_EXIT_CODE = 143
# Tells the script which attempt this is: 0 for the first, 1 after one restart.
RESTART_VARIABLE = "JAXTRIBUTE_RESTART"
# The last attempt that may train: some schedulers do not bound restarts that a task asks for by its exit code.
RESTART_LIMIT_VARIABLE = "JAXTRIBUTE_RESTART_LIMIT"
