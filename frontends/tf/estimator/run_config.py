"""How an estimator runs: where, how often it saves, with which strategies."""

import copy
from types import NoneType
from typing import Any

import numpy as np

from frontends.tf.compat.v1 import logging
from frontends.tf.compat.v1.session_config import ConfigProto
from frontends.tf.distribute.distribute_config import DistributeConfig
from frontends.tf.estimator.default_folder import default_folder
from frontends.tf.estimator.remote_cluster import in_remote_cluster
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.checkpoint import check_path
from spmd.cluster import read_tf_config
from spmd.typing import StrPath

_DEFAULT: Any = object()
_SAVE_SECONDS = 600
_CHANGEABLE = frozenset(
    {
        *("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps"),
        *("save_checkpoints_secs", "session_config", "keep_checkpoint_max"),
        *("keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute"),
        *("eval_distribute", "device_fn", "protocol", "experimental_distribute"),
        *("experimental_max_worker_delay_secs", "session_creation_timeout_secs"),
        "checkpoint_save_graph_def",
    }
)


class RunConfig:
    """How an estimator runs; does not change once it is made.

    The cluster and the task of this process are those of TF_CONFIG.

    Source: `tf.estimator.RunConfig`.
    """

    def __init__(
        self,
        model_dir: StrPath | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _DEFAULT,
        save_checkpoints_secs: int | None = _DEFAULT,
        session_config: object = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: object = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: DistributeConfig | None = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: int = 7200,
        checkpoint_save_graph_def: bool = True,
    ) -> None:
        """Describes a run.

        Args:
            model_dir: folder of checkpoints and summaries, or its URL in an object store; None makes a temporary one, which an
                evaluator on the same machine finds.
            tf_random_seed: of initial values and dropout; None stands for 1, as TensorFlow's for the graph of a model function.
            save_summary_steps: how often summaries are written; None never.
            save_checkpoints_steps: how often checkpoints are written, in steps.
            save_checkpoints_secs: likewise in seconds, 600 unless steps are given; None, and no steps, means never.
            session_config: accepted, and not used: there are no sessions.
            keep_checkpoint_max: how many checkpoints stay; None or 0 keeps all.
            keep_checkpoint_every_n_hours: one in so many hours stays for ever.
            log_step_count_steps: how often loss and speed are logged.
            train_distribute: strategy of training; None computes on one device.
            device_fn: accepted, and not used: strategies place variables.
            protocol: accepted, and not used.
            eval_distribute: strategy of evaluations.
            experimental_distribute: strategies, and `remote_cluster`: the cluster that trains for this program, which is no task
                of it.
            experimental_max_worker_delay_secs: accepted, and not used: workers do not wait for each other to start.
            session_creation_timeout_secs: accepted, and not used.
            checkpoint_save_graph_def: accepted, and not used: there is no graph to save.

        Raises:
            ValueError: both ways to say how often to save are given, a number is out of range, or an option is of another kind.
        """
        if save_checkpoints_steps is _DEFAULT:
            save_checkpoints_steps = None
            if save_checkpoints_secs is _DEFAULT:
                save_checkpoints_secs = _SAVE_SECONDS
        elif save_checkpoints_secs is _DEFAULT:
            save_checkpoints_secs = None
        config = read_tf_config()
        self._cluster = ClusterSpec(config.jobs)
        self._task_type = config.task_type or "worker"
        self._task_id = config.task_index or 0
        self._values: dict[str, Any] = {
            "tf_random_seed": tf_random_seed,
            "save_summary_steps": save_summary_steps,
            "save_checkpoints_steps": save_checkpoints_steps,
            "save_checkpoints_secs": save_checkpoints_secs,
            "session_config": session_config,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
            "log_step_count_steps": log_step_count_steps,
            "train_distribute": train_distribute,
            "device_fn": device_fn,
            "protocol": protocol,
            "eval_distribute": eval_distribute,
            "experimental_distribute": experimental_distribute,
            "experimental_max_worker_delay_secs": experimental_max_worker_delay_secs,
            "session_creation_timeout_secs": session_creation_timeout_secs,
            "checkpoint_save_graph_def": checkpoint_save_graph_def,
            "service": None,
            "model_dir": None if model_dir is None else check_path(model_dir),
        }
        self._take_strategies(experimental_distribute)
        self._check()

    def _take_strategies(self, given: DistributeConfig | None) -> None:
        """Takes the strategies of `experimental_distribute`."""
        for name in ("train_distribute", "eval_distribute"):
            strategy = getattr(given, name, None)
            if strategy is None:
                continue
            if self._values[name] not in (None, strategy):
                raise ValueError(
                    f"Either `{name}` or `experimental_distribute.{name}` can be set, but both are: {self._values[name]!r} "
                    f"and {strategy!r}."
                )
            self._values[name] = strategy

    def _check(self) -> None:
        if self.save_checkpoints_steps is not None and self.save_checkpoints_secs is not None:
            raise ValueError(
                "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set. Set one of them to None."
            )
        for name in ("save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max"):
            value = self._values[name]
            if value is not None and value < 0:
                raise ValueError(f"{name} should be >= 0, but is {value}.")
        for name in ("save_summary_steps", "log_step_count_steps"):
            value = self._values[name]
            if value is not None and value <= 0:
                raise ValueError(f"{name} should be > 0, but is {value}. None means never.")
        if not isinstance(self.tf_random_seed, (int, np.integer, NoneType)):
            raise ValueError(f"tf_random_seed must be integer, but is {self.tf_random_seed!r}.")
        if not isinstance(self.session_config, (ConfigProto, NoneType)):
            raise ValueError(
                f"session_config must be instance of ConfigProto, but is {self.session_config!r}."
            )
        if self.model_dir == "":
            raise ValueError("model_dir should be non-empty. None makes a temporary folder.")

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"'RunConfig' object has no attribute {name!r}")
        return values[name]

    def replace(self, **kwargs: Any) -> "RunConfig":
        """Returns a copy with other values.

        Raises:
            ValueError: a name is unknown, or cannot be changed.
        """
        for name in kwargs:
            if name not in _CHANGEABLE:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {sorted(_CHANGEABLE)}."
                )
        # Given one of them, the other is no longer meant.
        if kwargs.get("save_checkpoints_steps") is not None:
            kwargs.setdefault("save_checkpoints_secs", None)
        if kwargs.get("save_checkpoints_secs") is not None:
            kwargs.setdefault("save_checkpoints_steps", None)
        new = copy.copy(self)
        new._values = {**self._values, **kwargs}
        new._take_strategies(kwargs.get("experimental_distribute"))
        new._check()
        return new

    def shown(self) -> str:
        """Shows the options for the log, by the names that TensorFlow's log has."""
        names = ("cluster_spec", "task_type", "task_id", "is_chief", "num_ps_replicas")
        of_task = {name: getattr(self, name) for name in (*names, "num_worker_replicas")}
        found = {"model_dir": self.model_dir} | self._values | of_task
        return str({f"_{name}": value for name, value in found.items()})

    def with_folder(self, model_dir: StrPath | None) -> "RunConfig":
        """Returns a copy with a folder; a temporary one if there is none.

        Raises:
            ValueError: two folders are named.
        """
        given = None if model_dir is None else check_path(model_dir)
        if given is not None and self.model_dir not in (None, given):
            raise ValueError(
                "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
                f"'{given}', in `RunConfig`: '{self.model_dir}'"
            )
        folder = given or self.model_dir
        if folder is None:
            folder = default_folder(self.cluster_spec, self.task_type, self.is_chief)
            logging.warning(f"Using temporary folder as model directory: {folder}")
        return self.replace(model_dir=folder)

    def connected(self) -> "RunConfig":
        """Returns a copy whose strategies run in the remote cluster, which is connected to; as it is without one.

        Raises:
            ValueError: the strategy of training is none that runs there.
        """
        cluster = self.remote_cluster
        if cluster is None:
            return self
        new = copy.copy(self)
        new._values = {**self._values}
        for name in ("train_distribute", "eval_distribute"):
            strategy = self._values[name]
            new._values[name] = None if strategy is None else in_remote_cluster(strategy, cluster)
        if new.train_distribute is None:
            raise ValueError(
                "DistributeConfig(remote_cluster=...) has the cluster train, which takes a strategy. Add "
                "train_distribute=tf.contrib.distribute.CollectiveAllReduceStrategy()."
            )
        # A copy of the configuration goes to the cluster, where the strategies of before are not.
        new._values["experimental_distribute"] = DistributeConfig(
            new.train_distribute, new.eval_distribute, cluster.as_dict()
        )
        return new

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster."""
        return self._cluster

    @property
    def task_type(self) -> str:
        """The job of this process; `"worker"` without a cluster."""
        return self._task_type

    @property
    def task_id(self) -> int:
        """The index of this process in its job."""
        return self._task_id

    @property
    def is_chief(self) -> bool:
        """Whether this process writes checkpoints: the chief, or the first worker of a cluster without one."""
        if "chief" in self._cluster.jobs or "master" in self._cluster.jobs:
            return self._task_type in ("chief", "master")
        return self._task_type == "worker" and self._task_id == 0

    @property
    def remote_cluster(self) -> ClusterSpec | None:
        """The cluster that trains for this program, which is no task of it; None without one. Not a name of TensorFlow."""
        cluster = getattr(self.experimental_distribute, "remote_cluster", None)
        return None if cluster is None else ClusterSpec(cluster)

    @property
    def num_worker_replicas(self) -> int:
        """How many processes train."""
        return sum(self._count(job) for job in ("chief", "master", "worker")) or 1

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self._count("ps")

    @property
    def master(self) -> str:
        """Always empty: there are no sessions to connect to."""
        return ""

    evaluation_master = master

    @property
    def global_id_in_cluster(self) -> int:
        """The index of this process among all of the cluster: the chief, workers, then parameter servers."""
        before = {"chief": (), "master": (), "worker": ("chief", "master")}
        jobs = before.get(self._task_type, ("chief", "master", "worker"))
        return sum(map(self._count, jobs)) + self._task_id

    def _count(self, job: str) -> int:
        return self._cluster.num_tasks(job) if job in self._cluster.jobs else 0
