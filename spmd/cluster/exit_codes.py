"""Exit codes that tell a job controller what to do with a process that ended."""

# 128 + SIGTERM: "start me again". Kubeflow's restart policy `ExitCode` takes codes from 128 on as retryable, and
# TensorFlow's PreemptionCheckpointHandler exits with this one after it has saved.
RETRYABLE_EXIT_CODE = 143
