"""A Ray cluster that somebody else starts, as KubeRay does on Kubernetes, for parameter servers and workers to run in."""

from collections.abc import Mapping

RAY_ADDRESS_VARIABLE = "JAXTRIBUTE_RAY_ADDRESS"


def ray_address(environment: Mapping[str, str]) -> str | None:
    """Returns the address of a Ray cluster that is there already; None if tasks start one.

    The addresses of the tasks in TF_CONFIG are names only, then. Each node of the Ray cluster that is to be a task has one
    unit of the resource that is called as the task's job: `worker` or `ps`.

    Args:
        environment: environment variables.

    Examples:
        >>> ray_address({"JAXTRIBUTE_RAY_ADDRESS": "train-head-svc:6379"})
        'train-head-svc:6379'
        >>> ray_address({}) is None
        True
    """
    return environment.get(RAY_ADDRESS_VARIABLE) or None
