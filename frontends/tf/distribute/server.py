"""`tf.distribute.Server`: a task of a cluster of parameter servers and workers."""

from collections.abc import Callable
from typing import Any

from frontends.tf.train.cluster_spec import ClusterSpec, Tasks
from spmd.cluster import read_tf_config
from spmd.errors import ClusterConfigError
from spmd.servers import Store
from spmd.source_lines import shorten_uncaught

# The servers of this process, by address.
_SERVERS: dict[str, "Server"] = {}


class Server:
    """A task that serves: a parameter server, or a worker.

    Several servers may be made in one process, as TensorFlow's tutorial and tests do. There, each parameter server is a
    store in this process, and each worker a thread of it.

    What differs here: nothing listens on the address of a server that runs in the process of its coordinator. Other
    servers begin to listen when `join` is called, and need the extra `[ray]`.

    Attributes:
        job_name: the task's job.
        task_index: its index in the job.
        store: of a parameter server, the values that it holds.

    Source: `tf.distribute.Server`.
    """

    def __init__(
        self,
        server_or_cluster_def: "ClusterSpec | dict[str, Tasks]",
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: object = None,
        start: bool = True,
    ) -> None:
        """Makes the server of a task.

        Args:
            server_or_cluster_def: the cluster, with this task in it.
            job_name: job of the task; may be left out if there is one job.
            task_index: index of the task; may be left out if the job has one task.

        Raises:
            ValueError: it is not clear which task this is, or there is no such task.
        """
        cluster = ClusterSpec(server_or_cluster_def)
        if job_name is None:
            if len(cluster.jobs) != 1:
                raise ValueError(
                    f"Must specify an explicit job_name: the cluster has the jobs {', '.join(cluster.jobs)}. Write "
                    'tf.distribute.Server(cluster, job_name="worker", task_index=0).'
                )
            job_name = cluster.jobs[0]
        if task_index is None:
            if cluster.num_tasks(job_name) != 1:
                raise ValueError(
                    f"Must specify an explicit task_index: the job {job_name!r} has {cluster.num_tasks(job_name)} "
                    f'tasks. Write tf.distribute.Server(cluster, job_name="{job_name}", task_index=0).'
                )
            (task_index,) = cluster.task_indices(job_name)
        self._address = cluster.task_address(job_name, task_index)
        self._cluster, self.job_name, self.task_index = cluster, job_name, task_index
        self.store = Store()
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: object = None, start: bool = True) -> "Server":
        """Makes a server that is a cluster of its own.

        Source: `tf.distribute.Server.create_local_server`.
        """
        return Server({"localhost": ["localhost:0"]}, "localhost", 0, start=start)

    @property
    def server_def(self) -> dict[str, Any]:
        """The cluster, the job and the index of the task."""
        return {
            "cluster": self._cluster.as_dict(),
            "job_name": self.job_name,
            "task_index": self.task_index,
        }

    @property
    def target(self) -> str:
        """The address of the server, with the protocol in front."""
        return f"grpc://{self._address}"

    def start(self) -> None:
        """Starts serving; a second call changes nothing."""
        _SERVERS[self._address] = self

    def join(self) -> None:
        """Serves other processes, and prints that it does; never returns.

        What listens is Ray, which is started here, and ends with this process. It serves one coordinator after the other.

        Raises:
            ModuleNotFoundError: Ray is not installed.
            ClusterError: the cluster has several machines, and no token was set; or something else listens at the
                address.

        Source: `tf.distribute.Server.join`.
        """
        self.serve()

    def serve(self, *, until: Callable[[], bool] | None = None) -> None:
        """Serves as `join` does.

        Args:
            until: returns when a coordinator has said that training is over, and has left; or, while none is there, when this says
                that none will come. None serves for ever.
        """
        _SERVERS.pop(self._address, None)
        remote = remote_package()
        name, jobs = f"{self.job_name}_{self.task_index}", jobs_of(self._cluster)
        head = remote.head_of(jobs)
        source = source_of(self._cluster, "the cluster that tf.distribute.Server was given")
        head_name = remote.name_of(head, jobs)
        remote.serve(name, self._address, head, head_name, source, until=until)


def server_at(address: str) -> Server | None:
    """Returns the server of this process that has an address, if any."""
    return _SERVERS.get(address)


def connected(cluster: ClusterSpec, own: tuple[str, int] | None = None) -> Any:
    """Connects this process, as the coordinator, to the servers and workers of a cluster; waits for them.

    Args:
        cluster: all tasks.
        own: the job and the index of the task that this process is, if it has no server of its own.
    """
    source = source_of(cluster, "the cluster that the program gives")
    jobs = jobs_of(cluster)
    names = [] if own is None else [f"{own[0]}_{own[1]}"]
    return remote_package().RemoteCluster(jobs, source, is_chief="chief" in jobs, own=names)


def source_of(cluster: ClusterSpec, otherwise: str) -> str:
    """Says where the addresses of a cluster come from: TF_CONFIG, if it names the same ones, else what is given."""
    try:
        is_in_environment = ClusterSpec(read_tf_config().jobs) == cluster
    except ClusterConfigError:
        is_in_environment = False
    return "TF_CONFIG" if is_in_environment else otherwise


def jobs_of(cluster: ClusterSpec) -> dict[str, list[str]]:
    """Lists the addresses of a cluster's tasks, by job; the chief's former name was `master`."""
    return {
        "chief" if job == "master" else job: [
            address for address in cluster.job_tasks(job) if address is not None
        ]
        for job in cluster.jobs
    }


def remote_package() -> Any:
    """Imports what reaches tasks in other processes, and Ray with it.

    From then on, errors that end the program are printed with its own lines only.

    Raises:
        ModuleNotFoundError: Ray is not installed.
    """
    try:
        from spmd.servers import remote
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise ModuleNotFoundError(
            "Tasks that serve other processes need Ray, which is not installed. Install it: pip install "
            '"jaxtribute[ray]"'
        ) from None
    shorten_uncaught()
    return remote
