"""TF_CONFIG: JSON with a cluster and a task, checked for types.

`spmd.cluster.config` checks whether they fit together.
"""

import dataclasses
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn, cast

from spmd.cluster.config import Cluster, from_tasks
from spmd.errors import ClusterConfigError

_EXAMPLE = (
    '{"cluster": {"worker": ["host0:2222", "host1:2222"]}, "task": {"type": "worker", "index": 0}}'
)
# No cluster has more tasks; longer numbers are slow to parse.
_INDEX = re.compile(r"[0-9]{1,9}")


@dataclasses.dataclass(frozen=True)
class TFConfig:
    """The contents of TF_CONFIG; every part may be absent.

    Attributes:
        jobs: addresses by job and task index.
        task_type: job of this task.
        task_index: its index in the job.
        rpc_layer: protocol between TensorFlow's servers, such as `"grpc"`.
        session_master: address that TensorFlow 1 connected to.
        source: where it was read, for errors.
    """

    jobs: Mapping[str, Mapping[int, str]] = dataclasses.field(default_factory=dict[str, Any])
    task_type: str | None = None
    task_index: int | None = None
    rpc_layer: str | None = None
    session_master: str | None = None
    source: str = dataclasses.field(default="TF_CONFIG", compare=False)


def read_tf_config(
    text_or_environment: str | Mapping[str, str] | None = None,
    *,
    text_source: str = "the TF_CONFIG that was given",
) -> TFConfig:
    """Parses TF_CONFIG, and checks the type of every part that it uses.

    Args:
        text_or_environment: the JSON itself, or environment variables; None takes this process's.
        text_source: where JSON that is given itself comes from, for errors.

    Returns:
        Its contents; empty if the variable is unset or empty.

    Raises:
        ClusterConfigError: it is not JSON, or a part has a type that TensorFlow does not accept.

    Examples:
        >>> config = read_tf_config('{"cluster": {"worker": {"1": "b:1"}}, "task": {"index": "1"}}')
        >>> config.jobs, config.task_index
        ({'worker': {1: 'b:1'}}, 1)
        >>> read_tf_config({}).jobs
        {}

    Source: `tf.distribute.cluster_resolver.TFConfigClusterResolver`.
    """
    if isinstance(text_or_environment, str):
        text, source = text_or_environment, text_source
    else:
        environment = os.environ if text_or_environment is None else text_or_environment
        text, source = environment.get("TF_CONFIG", ""), "the environment variable TF_CONFIG"
    if not text.strip():
        return TFConfig(source=source)
    return _Reader(source).config(_parse(text, source))


def from_tf_config(text_or_environment: str | Mapping[str, str] | None = None) -> Cluster | None:
    """Reads the cluster that TF_CONFIG describes.

    Args:
        text_or_environment: the JSON itself, or environment variables; None takes this process's.

    Returns:
        The cluster; None if TF_CONFIG is unset or names no task, which means one process.

    Raises:
        ClusterConfigError: TF_CONFIG is malformed; the message quotes the key and gives the correction.

    Examples:
        >>> from_tf_config({}) is None
        True
        >>> cluster = from_tf_config(
        ...     '{"cluster": {"chief": ["a:1"], "worker": ["b:1"]}, "task": {"type": "worker", "index": 0}}'
        ... )
        >>> str(cluster.task), cluster.process_id, cluster.processes[0].address
        ('worker 0', 1, 'a:1')

    Source: `tf.distribute.cluster_resolver.TFConfigClusterResolver`.
    """
    config = read_tf_config(text_or_environment)
    return from_tasks(config.jobs, config.task_type, config.task_index, config.source)


def _parse(text: str, source: str) -> object:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise ClusterConfigError(
                f"{_shown(twice)} appears twice in one object of {source}, and JSON keeps only one of them. "
                f"Write one {_shown(twice)}: with the contents of both.",
                key=twice,
            )
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except ClusterConfigError:
        raise
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise ClusterConfigError(
            f"{_sentence(source)} must be a JSON object, but it is not valid JSON{where}: {error}. It starts with "
            f"{_shown(text)}. Write export TF_CONFIG='{_EXAMPLE}', with single "
            "quotes for the shell and double quotes in the JSON."
        ) from error


@dataclasses.dataclass(frozen=True)
class _Reader:
    """Checks types, and names the key whose value has the wrong one."""

    source: str

    def fail(self, key: str, expected: str, value: object, fix: str) -> NoReturn:
        # A name in it may be of any length.
        name = f'"{key:.200}" in {self.source}' if key else _sentence(self.source)
        raise ClusterConfigError(
            f"{name} must be {expected:.500}, but it is {_shown(value)}. Write {fix:.500}.", key=key
        )

    def mapping(self, key: str, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            fix = f'"{key}": {{...}}' if key else f"'{_EXAMPLE}'"
            self.fail(key, "a JSON object", value, fix)
        return cast(Mapping[str, Any], value)

    def text(self, key: str, value: object, example: str) -> str:
        if not isinstance(value, str) or not value:
            self.fail(key, "a non-empty string", value, example)
        return value

    def index(self, key: str, value: object, fix: str) -> int:
        # TensorFlow calls int() on it, so text such as "0" is an index. It also takes true for 1 and 0.9 for 0,
        # mistakes that would give two tasks the same name.
        if isinstance(value, str) and _INDEX.fullmatch(value):
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.fail(key, "a non-negative integer", value, fix)
        return value

    def tasks(self, job: str, value: object) -> dict[int, str]:
        key = f"cluster.{job}"
        if isinstance(value, list):
            items = dict(enumerate(cast(list[Any], value)))
        elif isinstance(value, dict):
            items: dict[int, Any] = {}
            for name, address in cast(dict[str, Any], value).items():
                fix = f'"{job}": {{"0": "host0:2222", ...}}'
                index = self.index(f"{key}.{name}", name, fix)
                if index in items:
                    self.fail(f"{key}.{name}", f"the only address of {job} {index}", address, fix)
                items[index] = address
        else:
            expected = "a list of addresses, or an object from task index to address"
            self.fail(key, expected, value, f'"{job}": ["host0:2222"]')
        return {
            index: self.text(f"{key}[{index}]", address, f'"host{index}:2222" in its place')
            for index, address in items.items()
        }

    def config(self, value: object) -> TFConfig:
        # Some templates write null for an absent part.
        config = {key: part for key, part in self.mapping("", value).items() if part is not None}
        cluster = self.mapping("cluster", config.get("cluster", {}))
        task = self.mapping("task", config.get("task", {}))
        if task and "cluster" not in config:
            raise ClusterConfigError(
                f'"cluster" is not in {self.source}, but "task" is: {_shown(task)}. Add "cluster": {{"worker": '
                '["host0:2222", ...]}, or unset TF_CONFIG to train in one process.',
                key="cluster",
            )
        type_, index = task.get("type"), task.get("index")
        task_fix = '"task": {"type": "worker", "index": 0}'
        return TFConfig(
            jobs={job: self.tasks(job, tasks) for job, tasks in cluster.items()},
            task_type=None if type_ is None else self.text("task.type", type_, task_fix),
            task_index=None if index is None else self.index("task.index", index, task_fix),
            rpc_layer=self._optional(config, "rpc_layer"),
            session_master=self._optional(config, "session_master"),
            source=self.source,
        )

    def _optional(self, config: Mapping[str, Any], key: str) -> str | None:
        value = config.get(key)
        return None if value is None else self.text(key, value, f'"{key}": "grpc"')


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _shown(value: object) -> str:
    try:
        text = json.dumps(value)
    except RecursionError:
        text = "a deeply nested value"
    return text if len(text) <= 80 else f"{text[:80]} ..."
