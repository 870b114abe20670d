"""Which processes read what of a dataset."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.options import AutoShardPolicy
from frontends.tf.distribute import auto_shard
from frontends.tf.distribute.auto_shard import OwnPart, divides_data, policy_of
from spmd.input.device_map import DeviceMap


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
    position = part.position()
    assert rows(part)[3:] == rows(part.resumed_at(position, 3))


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


def test_the_plan_is_printed_once(capsys):
    auto_shard._print_plan.cache_clear()
    for policy in (AutoShardPolicy.OFF, AutoShardPolicy.OFF, AutoShardPolicy.DATA):
        auto_shard._print_plan(policy, 4)
    assert capsys.readouterr().err.splitlines() == [
        "Input for 4 replicas in 1 processes: each reads all of the data for itself, so that a pass repeats "
        "every row (AutoShardPolicy.OFF).",
        "Input for 4 replicas in 1 processes: each reads all of the data, and trains on its own rows of every "
        "batch (AutoShardPolicy.DATA).",
    ]


@pytest.fixture
def travelling(monkeypatch):
    """CPU devices that count as GPUs; what comes to them, and what they make of it."""
    monkeypatch.setattr(auto_shard, "_has_memory_of_its_own", lambda mesh: True)
    seen = []
    call = DeviceMap.__call__

    def spy(self, batch):
        result = call(self, batch)
        seen.append((batch[0].dtype, result[0].dtype))
        return result

    monkeypatch.setattr(DeviceMap, "__call__", spy)
    return seen


def scaled_pixels():
    pixels = np.arange(7 * 4, dtype=np.uint8).reshape(7, 4)
    rows = tf.data.Dataset.from_tensor_slices((pixels, np.arange(7)))
    return rows.map(lambda x, y: (tf.cast(x, tf.float32) / 255, y)).shuffle(7, seed=3).batch(4)


def values_of(strategy, batches):
    return [[np.asarray(strategy.gather(one, axis=0)) for one in batch] for batch in batches]


def test_pixels_travel_as_bytes_to_devices_with_memory_of_their_own(travelling, monkeypatch):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    found = values_of(strategy, strategy.experimental_distribute_dataset(scaled_pixels()))
    assert travelling == [(np.uint8, np.float32)] * 2
    monkeypatch.undo()
    expected = values_of(strategy, strategy.experimental_distribute_dataset(scaled_pixels()))
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=2e-7)  # XLA may multiply by 1/255


def test_what_no_function_makes_larger_is_left_alone(travelling):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    rows = tf.data.Dataset.from_tensor_slices((["a", "bb", "c"], np.arange(3.0)))
    (batch,) = strategy.experimental_distribute_dataset(rows.batch(3))
    assert [texts.tolist() for texts in batch[0].values] == [["a", "bb"], ["c"]]
    assert travelling == []


def test_passes_over_bytes_go_on_where_they_were(travelling):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    first = iter(strategy.experimental_distribute_dataset(scaled_pixels()))
    next(first)
    state, rest = first.get_state(), values_of(strategy, first)
    second = strategy.experimental_distribute_dataset(scaled_pixels())
    second.set_state(state)
    for ours, theirs in zip(values_of(strategy, second), rest, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(second) == 2
    assert travelling
