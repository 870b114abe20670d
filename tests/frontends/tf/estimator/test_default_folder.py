"""Folders of estimators that name none."""

import itertools
import os

import pytest

from frontends import tf
from frontends.tf.estimator import default_folder as module

CLUSTER = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})


@pytest.fixture
def of_task(monkeypatch, tmp_path):
    """Names the folders of the first estimators of a task, as its process would."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("JAXTRIBUTE_JOB", raising=False)

    def of_task(job, cluster=CLUSTER, count=1):
        monkeypatch.setattr(module, "_NUMBERS", itertools.count())
        name, _, index = job.partition(":")
        is_chief = name == "worker" and index == "0"
        return [module.default_folder(cluster, name, is_chief) for _ in range(count)]

    return of_task


def test_an_evaluator_finds_the_folders_of_the_chief(of_task):
    cluster = tf.train.ClusterSpec({**CLUSTER.as_dict(), "evaluator": ["c:1"]})
    expected = of_task("evaluator", cluster, 2)
    assert not any(map(os.path.exists, expected))
    chief = of_task("worker:0", count=2)
    assert list(map(os.path.realpath, expected)) == chief
    again = of_task("worker:0", count=2)
    assert not {*chief} & {*again}
    assert list(map(os.path.realpath, of_task("evaluator", count=2))) == again
    assert of_task("worker:1") != again[:1]


def test_a_program_without_a_cluster_has_folders_of_its_own(of_task):
    (first, second) = of_task("worker:0", tf.train.ClusterSpec({}), 2)
    assert first != second
    assert os.listdir(first) == []


def test_the_folder_of_a_chief_that_is_long_gone_is_not_taken(of_task, monkeypatch):
    of_task("worker:0")
    (link,) = of_task("evaluator")
    monkeypatch.setattr(module, "_FRESH_SECONDS", 0)
    (found,) = of_task("evaluator")
    assert os.path.exists(found)  # the chief still runs
    monkeypatch.setattr(module, "_runs", lambda process: process != os.getpid())
    assert of_task("evaluator") == [link]
    assert not os.path.lexists(link)


def test_tasks_of_a_job_share_folders(of_task, monkeypatch):
    monkeypatch.setenv("JAXTRIBUTE_JOB", "abc")
    folders = of_task("worker:0", count=2)
    assert of_task("evaluator", tf.train.ClusterSpec({}), 2) == folders
    assert len({*folders}) == 2
    assert all(map(os.path.isdir, folders))
