"""The resolver that asks Google Compute Engine."""

from typing import Any

from frontends.tf.distribute.cluster_resolver.base import AddressResolver
from frontends.tf.distribute.cluster_resolver.google_api import google_service
from frontends.tf.train.cluster_spec import ClusterSpec


class GCEClusterResolver(AddressResolver):
    """Looks up the running machines of an instance group. Needs the extra `gcp`.

    Args:
        project: the project.
        zone: zone of the instance group.
        instance_group: its name.
        port: port of every task.
        task_type: job of all machines of the group.
        task_id: index of this process in the job; every machine needs its own.
        rpc_layer: protocol to put in front of addresses.
        credentials: an object of `google.auth`; `"default"` takes this machine's.
        service: what `googleapiclient.discovery.build("compute", "v1")` gives, signed in already.

    Raises:
        ImportError: the client is not installed.

    Source: `tf.distribute.cluster_resolver.GCEClusterResolver`. There the instance group is passed under
    a name that the service rejects.
    """

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str | None = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._group = {"project": project, "zone": zone, "instanceGroup": instance_group}
        self._port = port
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._service = service or google_service("compute", credentials, "GCEClusterResolver")

    @AddressResolver.task_type.setter
    def task_type(self, task_type: str | None) -> None:
        """Refuses: all machines of the group have one job."""
        raise RuntimeError(
            "You cannot reset the task_type of the GCEClusterResolver after it has been created, from "
            f"{self._task_type!r} to {task_type!r}. Write GCEClusterResolver(..., task_type={task_type!r})."
        )

    def cluster_spec(self) -> ClusterSpec:
        """Asks the service for the machines, each time.

        Returns:
            One job, with the addresses in alphabetical order.
        """
        groups, instances = self._service.instanceGroups(), self._service.instances()
        request = groups.listInstances(
            **self._group, body={"instanceState": "RUNNING"}, orderBy="name"
        )
        found: list[str] = []
        while request is not None:
            response = request.execute()
            for item in response.get("items", ()):
                where = {key: self._group[key] for key in ("project", "zone")}
                machine = instances.get(**where, instance=item["instance"].split("/")[-1]).execute()
                found.append(f"{machine['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(
                previous_request=request, previous_response=response
            )
        return ClusterSpec({self._task_type: sorted(found)})
