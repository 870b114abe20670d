"""The exit code that asks a job controller for a restart."""

# 128 + SIGTERM. Kubeflow's restart policy `ExitCode` treats codes from 128 on as retryable, and TensorFlow's
# PreemptionCheckpointHandler exits with this one after it has saved.
RETRYABLE_EXIT_CODE = 143
