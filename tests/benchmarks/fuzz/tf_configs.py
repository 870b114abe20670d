"""Mutated values of TF_CONFIG."""

import random
from pathlib import Path

from spmd.cluster import from_tf_config
from spmd.errors import ClusterConfigError
from tests.benchmarks.fuzz.mutations import mutated_json

_TASK = {"type": "worker", "index": 0}
_RIGHT = (
    {"cluster": {"worker": ["a:1", "b:1"]}, "task": _TASK},
    {
        "cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]},
        "task": _TASK,
        "rpc_layer": "grpc",
    },
    {
        "cluster": {"master": ["a:1"], "worker": {"0": "b:1", "1": "[::1]:2"}},
        "task": {**_TASK, "index": "1"},
    },
    {
        "cluster": {"worker": ["localhost:1"], "evaluator": ["127.0.0.1:2"]},
        "task": {"type": "evaluator", "index": 0},
    },
)


class TFConfigs:
    """Values that describe a cluster, or are refused with the correction."""

    def __init__(self, folder: Path) -> None:
        del folder

    def attempt(self, chance: random.Random) -> str:
        """Reads one; returns what became of it."""
        text = mutated_json(chance.choice(_RIGHT), chance).decode("utf-8", "surrogateescape")
        try:
            cluster = from_tf_config({"TF_CONFIG": text})
        except ClusterConfigError as error:
            said = str(error)
            assert "Write" in said or "Add" in said, said
            assert len(said) < 8000, f"an error of {len(said)} characters"
            return "refused"
        assert cluster is None or cluster.task_type in cluster.jobs or cluster.is_evaluator
        if cluster is not None and cluster.process_id is not None:
            assert cluster.processes[cluster.process_id] == cluster.task
        return "accepted"

    def close(self) -> None:
        """Does nothing."""
