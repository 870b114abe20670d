"""The text of TF_CONFIG: JSON of the right types."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmd.cluster import TFConfig, from_tf_config, read_tf_config
from spmd.errors import ClusterConfigError


def test_nothing_says_nothing(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    for nothing in (None, {}, {"TF_CONFIG": ""}, " \n", "{}", '{"cluster": null, "task": null}'):
        assert read_tf_config(nothing) == TFConfig()


def test_the_environment_is_read(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"]}, "rpc_layer": "grpc"}')
    assert read_tf_config() == TFConfig({"worker": {0: "a:1"}}, rpc_layer="grpc")
    assert read_tf_config({"TF_CONFIG": "{}"}) == TFConfig()


def test_jobs_may_be_sparse():
    assert read_tf_config('{"cluster": {"worker": {"2": "c:1", "0": "a:1"}}}').jobs == {
        "worker": {0: "a:1", 2: "c:1"}
    }


def test_an_index_may_be_text():
    config = read_tf_config('{"cluster": {}, "task": {"type": "worker", "index": "1"}}')
    assert (config.task_type, config.task_index) == ("worker", 1)


def test_keys_of_controllers_are_left_alone():
    # Kubeflow and Vertex AI add these.
    config = read_tf_config(
        '{"environment": "cloud", "job": {"x": [1]}, "task": {}, "cluster": {}}'
    )
    assert config == TFConfig()


WORKERS = {"cluster": {"worker": ["a:1", "b:1"]}}


@pytest.mark.parametrize(
    ("config", "key", "says"),
    [
        ("{", "", "not valid JSON at character 1"),
        ("{'cluster': {}}", "", "with single quotes for the shell and double quotes in the JSON"),
        ("[" * 100_000, "", "not valid JSON"),
        ("9" * 10_000, "", "not valid JSON"),
        ("null", "", "must be a JSON object, but it is null"),
        ("[]", "", "must be a JSON object"),
        ('{"task": {}, "task": {}}', "task", '"task" appears twice in one object'),
        ({"cluster": []}, "cluster", "must be a JSON object, but it is []"),
        ({"cluster": "a:1"}, "cluster", '"a:1"'),
        ({"cluster": {"worker": "a:1"}}, "cluster.worker", "must be a list of addresses"),
        ({"cluster": {"worker": None}}, "cluster.worker", "but it is null"),
        (
            {"cluster": {"worker": ["a:1", 2]}},
            "cluster.worker[1]",
            "a non-empty string, but it is 2",
        ),
        ({"cluster": {"worker": [""]}}, "cluster.worker[0]", 'but it is ""'),
        ({"cluster": {"worker": {"x": "a:1"}}}, "cluster.worker.x", "a non-negative integer"),
        (
            {"cluster": {"worker": {"0": "a:1", "00": "b:1"}}},
            "cluster.worker.00",
            "the only address of worker 0",
        ),
        (
            {"cluster": {"worker": {"9" * 5000: "a:1"}}},
            f"cluster.worker.{'9' * 5000}",
            "a non-negative integer",
        ),
        ({**WORKERS, "task": ["worker", 0]}, "task", "must be a JSON object"),
        ({"task": {"type": "worker", "index": 0}}, "cluster", '"cluster" is not in'),
        ({**WORKERS, "task": {"type": 1, "index": 0}}, "task.type", "but it is 1"),
        ({**WORKERS, "task": {"type": "worker", "index": True}}, "task.index", "but it is true"),
        ({**WORKERS, "task": {"type": "worker", "index": 0.9}}, "task.index", "but it is 0.9"),
        ({**WORKERS, "task": {"type": "worker", "index": "-1"}}, "task.index", 'but it is "-1"'),
        ({**WORKERS, "task": {"type": "worker", "index": -1}}, "task.index", "but it is -1"),
        ({**WORKERS, "task": {"type": "worker", "index": [[0]]}}, "task.index", "but it is [[0]]"),
        ({"rpc_layer": 1}, "rpc_layer", "but it is 1"),
        ({"session_master": {}}, "session_master", "but it is {}"),
    ],
)
def test_what_is_malformed_is_quoted(config, key, says):
    text = config if isinstance(config, str) else json.dumps(config)
    with pytest.raises(ClusterConfigError) as error:
        read_tf_config({"TF_CONFIG": text})
    assert error.value.key == key
    message = str(error.value)
    assert says in message
    assert key[:200] in message
    assert "environment variable TF_CONFIG" in message
    assert any(word in message for word in ("Write", "Add")), "the correction"
    assert len(message) < 1200


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda parts: (
        st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=8), parts, max_size=4)
    ),
    max_leaves=8,
)
# Mostly right, so that most examples get past the first check.
ROLE = st.sampled_from(["chief", "master", "worker", "ps", "evaluator"])
ADDRESS = (
    st.sampled_from(
        ["a:1", "b:1", "c:22", "localhost:1", "127.0.0.1:2", "[::1]:3", "a", ":1", "a:0"]
    )
    | JSON
)
TASKS = (
    st.lists(ADDRESS, max_size=3)
    | st.dictionaries(st.sampled_from(["0", "1", "2", "-1", "x", "00"]), ADDRESS, max_size=3)
    | JSON
)
CLUSTER = st.dictionaries(ROLE | st.text(max_size=5), TASKS, max_size=4) | JSON
TASK = st.fixed_dictionaries(
    {},
    optional={
        "type": ROLE | JSON,
        "index": st.integers(-1, 3) | st.sampled_from(["0", "1"]) | JSON,
    },
)
CONFIG = st.fixed_dictionaries(
    {},
    optional={"cluster": CLUSTER, "task": TASK | JSON, "rpc_layer": JSON, "session_master": JSON},
)


@given(CONFIG.map(json.dumps) | JSON.map(json.dumps) | st.text())
def test_no_input_gives_another_error(text):
    try:
        cluster = from_tf_config({"TF_CONFIG": text})
    except ClusterConfigError as error:
        assert "Write" in str(error) or "Add" in str(error)  # noqa: PT017
        return
    if cluster is not None:
        assert cluster.task_type in cluster.jobs or cluster.is_evaluator
        assert cluster.process_id is None or cluster.processes[cluster.process_id] == cluster.task


@given(st.lists(st.integers(1, 65535), unique=True, min_size=1, max_size=6), st.data())
def test_what_is_right_is_read_back(ports, data):
    chiefs = data.draw(st.integers(0, min(1, len(ports) - 1)))
    addresses = [f"host{port}:{port}" for port in ports]
    jobs = {"worker": addresses[chiefs:]} | ({"chief": addresses[:1]} if chiefs else {})
    job = data.draw(st.sampled_from(sorted(jobs)))
    index = data.draw(st.integers(0, len(jobs[job]) - 1))
    cluster = from_tf_config(json.dumps({"cluster": jobs, "task": {"type": job, "index": index}}))
    assert cluster is not None
    assert [task.address for task in cluster.processes] == addresses
    assert cluster.process_id == index + (chiefs if job == "worker" else 0)
