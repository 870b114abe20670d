"""ClusterSpec: what it refuses, with the line that fixes it. Its results stand in tests/golden."""

import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("cluster", "says"),
    [
        (["a:1"], r"this is list.*Write tf.train.ClusterSpec"),
        ({1: ["a:1"]}, "name of a job is a string"),
        ({"worker": "a:1"}, r'tasks for job \'worker\'.*Write {"worker": \["host0:2222"\]}'),
        ({"worker": {"x": "a:1"}}, "dictionary from integers"),
        ({"worker": {-1: "a:1"}}, "dictionary from integers"),
        ({"worker": None}, "must be a list of addresses"),
        ({"worker": ["a:1", 2]}, 'address of worker 1 is 2, not a string.*"host1:2222"'),
    ],
)
def test_what_is_no_cluster(cluster, says):
    with pytest.raises(TypeError, match=says):
        tf.train.ClusterSpec(cluster)


def test_a_job_that_is_not_there():
    with pytest.raises(ValueError, match="No such job in cluster: 'ps'; it has worker"):
        tf.train.ClusterSpec({"worker": ["a:1"]}).job_tasks("ps")
    with pytest.raises(ValueError, match="No task with index 3 in job 'worker', which has"):
        tf.train.ClusterSpec({"worker": ["a:1"]}).task_address("worker", 3)


def test_a_copy_is_independent():
    tasks = {"worker": ["a:1"]}
    spec = tf.train.ClusterSpec(tasks)
    copy = tf.train.ClusterSpec(spec)
    tasks["worker"].append("b:1")
    copy.as_dict()["worker"].append("c:1")
    assert spec == copy == {"worker": {0: "a:1"}}


def test_no_tasks_are_an_empty_list():
    assert tf.train.ClusterSpec({"ps": []}).job_tasks("ps") == []
