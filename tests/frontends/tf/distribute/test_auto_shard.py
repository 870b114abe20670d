"""Which processes read what of a dataset."""

import jax
import pytest

from frontends import tf
from frontends.tf.data.options import AutoShardPolicy
from frontends.tf.distribute import auto_shard
from frontends.tf.distribute.auto_shard import OwnPart, divides_data, policy_of


def with_policy(dataset, policy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    return dataset.with_options(options)


@pytest.mark.parametrize("policy", list(AutoShardPolicy))
def test_the_policy_is_the_one_of_the_options(policy):
    dataset = with_policy(tf.data.Dataset.range(4).batch(2), policy)
    assert policy_of(dataset) is policy
    assert divides_data(dataset) == (policy.name in ("FILE", "OFF"))


def test_a_source_of_another_kind_has_none():
    assert policy_of([1, 2]) is AutoShardPolicy.AUTO


@pytest.fixture
def second(monkeypatch):
    """Makes this process the second of two."""
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    monkeypatch.setattr(jax, "process_index", lambda: 1)


def rows(part):
    return [batch.tolist() for batch in part]


def test_off_reads_all_by_batches_of_its_part(second):
    assert rows(OwnPart(tf.data.Dataset.range(5).batch(4), AutoShardPolicy.OFF)) == [
        [0, 1],
        [2, 3],
        [4],
    ]


def test_a_part_goes_on_where_it_was(second):
    part = OwnPart(tf.data.Dataset.range(8).shuffle(8).batch(4), AutoShardPolicy.OFF)
    position = part._position()
    assert rows(part)[3:] == rows(part._resumed(position, 3))


@pytest.mark.parametrize(
    ("dataset", "found"),
    [
        (tf.data.Dataset.range(9).batch(3), "is 3"),
        (tf.data.Dataset.range(9).batch(4).unbatch(), "is not known"),
    ],
)
def test_batches_that_do_not_divide_are_refused(second, dataset, found):
    with pytest.raises(ValueError, match=f"by the 2 processes, but the size of a batch {found}"):
        OwnPart(dataset, AutoShardPolicy.OFF)


def test_files_are_divided(second, tmp_path):
    names = [str(tmp_path / f"{number}.txt") for number in range(3)]
    for number, name in enumerate(names):
        with open(name, "w", encoding="utf-8") as file:
            file.write(f"{number}\n")
    part = OwnPart(tf.data.TextLineDataset(names).batch(2), AutoShardPolicy.FILE)
    assert [list(batch) for batch in part] == [[b"1"]]


def test_data_without_files_is_refused(second):
    part = OwnPart(tf.data.Dataset.range(4).batch(2), AutoShardPolicy.FILE)
    with pytest.raises(ValueError, match=r"the dataset reads none.*Use AutoShardPolicy\.DATA"):
        next(iter(part))


def test_the_plan_is_printed_once(monkeypatch, capsys):
    monkeypatch.setattr(auto_shard, "_PRINTED", set())
    for policy in (AutoShardPolicy.OFF, AutoShardPolicy.OFF, AutoShardPolicy.DATA):
        auto_shard._print_plan(policy, 4)
    assert capsys.readouterr().err.splitlines() == [
        "Input for 4 replicas in 1 processes: each reads all of the data for itself, so that a pass repeats "
        "every row (AutoShardPolicy.OFF).",
        "Input for 4 replicas in 1 processes: each reads all of the data, and trains on its own rows of every "
        "batch (AutoShardPolicy.DATA).",
    ]
