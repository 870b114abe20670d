"""What goes into a checkpoint comes out of it."""

import collections
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.checkpoint import Checkpoint, CheckpointError, CheckpointNotFoundError

Pair = collections.namedtuple("Pair", "left right")


def saved(checkpoint: Checkpoint, folder) -> str:
    path = checkpoint.save(folder / "ckpt")
    checkpoint.wait()
    return path


def test_variables_get_their_values_back(tmp_path):
    count, tree = (
        spmd.Variable(jnp.int32(3)),
        spmd.Variable({"a": jnp.arange(3.0), "b": jnp.ones(2)}),
    )
    checkpoint = Checkpoint(count=count, tree=tree)
    path = saved(checkpoint, tmp_path)
    count.value, tree.value = jnp.int32(0), {"a": jnp.zeros(3), "b": jnp.zeros(2)}
    checkpoint.restore(path).assert_consumed()
    assert int(count.value) == 3
    np.testing.assert_array_equal(tree.value["a"], [0, 1, 2])
    np.testing.assert_array_equal(tree.value["b"], [1, 1])


@pytest.mark.parametrize("value", [True, 7, -0.1, float("inf"), "text", ""])
def test_plain_values_come_back_as_attributes(tmp_path, value):
    checkpoint = Checkpoint(value=value)
    path = saved(checkpoint, tmp_path)
    checkpoint.value = type(value)()
    checkpoint.restore(path)
    assert checkpoint.value == value
    assert type(checkpoint.value) is type(value)


@pytest.mark.parametrize(
    "dtype",
    ["float32", "bfloat16", "float16", "int8", "uint32", "bool", "complex64", "float8_e4m3fn"],
)
def test_every_bit_of_an_array_comes_back(tmp_path, dtype):
    array = jnp.asarray(np.random.default_rng(0).normal(size=(3, 5)) * 9).astype(dtype)
    checkpoint = Checkpoint(array=array)
    path = saved(checkpoint, tmp_path)
    checkpoint.array = jnp.zeros_like(array)
    checkpoint.restore(path)
    assert checkpoint.array.dtype == array.dtype
    assert np.asarray(checkpoint.array).tobytes() == np.asarray(array).tobytes()


def test_arrays_of_numpy_stay_arrays_of_numpy(tmp_path):
    checkpoint = Checkpoint(array=np.arange(3, dtype=np.int64))
    path = saved(checkpoint, tmp_path)
    checkpoint.array = np.zeros(3, np.int64)
    checkpoint.restore(path)
    assert isinstance(checkpoint.array, np.ndarray)
    np.testing.assert_array_equal(checkpoint.array, [0, 1, 2])


def test_arrays_without_elements_come_back(tmp_path):
    checkpoint = Checkpoint(empty=jnp.zeros((0, 3)), other=jnp.ones(2))
    path = saved(checkpoint, tmp_path)
    checkpoint.restore(path).assert_consumed()
    assert checkpoint.empty.shape == (0, 3)


def test_containers_come_back_with_what_is_in_them(tmp_path):
    state = {"pair": Pair(jnp.ones(2), [1, (2.5, "x")]), "none": None}
    checkpoint = Checkpoint(state=state)
    path = saved(checkpoint, tmp_path)
    state["pair"] = Pair(jnp.zeros(2), [0, (0.0, "")])
    checkpoint.restore(path).assert_consumed()
    assert state["pair"].right == [1, (2.5, "x")]
    np.testing.assert_array_equal(state["pair"].left, [1, 1])
    assert state["none"] is None


def test_random_keys_give_the_same_numbers(tmp_path):
    key = spmd.Variable(jax.random.key(3), kind="key")
    checkpoint = Checkpoint(key=key, other=jax.random.key(4, impl="rbg"))
    expected = jax.random.normal(key.value, 3), jax.random.normal(checkpoint.other, 3)
    path = saved(checkpoint, tmp_path)
    key.value, checkpoint.other = jax.random.key(0), jax.random.key(0, impl="rbg")
    checkpoint.restore(path)
    np.testing.assert_array_equal(jax.random.normal(key.value, 3), expected[0])
    np.testing.assert_array_equal(jax.random.normal(checkpoint.other, 3), expected[1])


def test_a_number_that_leaves_the_type_to_others_still_does(tmp_path):
    rate = spmd.Variable(0.5)
    path = saved(Checkpoint(rate=rate), tmp_path)
    new = spmd.Variable(0.0)
    Checkpoint(rate=new).restore(path)
    assert (new.value * jnp.ones(1, jnp.bfloat16)).dtype == jnp.bfloat16


def test_a_checkpoint_in_a_checkpoint(tmp_path):
    inner = Checkpoint(value=1)
    checkpoint = Checkpoint(inner=inner, list=[inner])
    path = saved(checkpoint, tmp_path)
    inner.value = 0
    checkpoint.restore(path).assert_consumed()
    assert inner.value == 1
    assert checkpoint.inner is checkpoint.list[0] is inner


def test_parts_of_the_root_are_saved_by_their_own_names(tmp_path):
    variable = spmd.Variable(jnp.ones(2))
    path = saved(Checkpoint({"v": variable}, more=1), tmp_path)
    variable.value = jnp.zeros(2)
    Checkpoint(v=variable, more=0).restore(path).assert_consumed()
    np.testing.assert_array_equal(variable.value, [1, 1])


def test_one_part_is_restored_alone_by_any_way_that_led_to_it(tmp_path):
    shared = spmd.Variable(jnp.ones(2))
    path = saved(Checkpoint(first=shared, group={"second": shared}), tmp_path)
    alone = spmd.Variable(jnp.zeros(2))
    Checkpoint(group={"second": alone}).restore(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(alone.value, [1, 1])


def test_names_with_slashes_and_dots_stay_apart(tmp_path):
    names = {
        "a/b": jnp.ones(1),
        "a": {"b": jnp.zeros(1)},
        "a.b": jnp.full(1, 2.0),
        "a.Sb": jnp.full(1, 3.0),
    }
    checkpoint = Checkpoint(names=dict(names))
    path = saved(checkpoint, tmp_path)
    checkpoint.restore(path).assert_consumed()
    jax.tree.map(np.testing.assert_array_equal, checkpoint.names, names)


def test_what_changes_after_save_is_not_in_it(tmp_path, mesh_of):
    variable = spmd.Variable(jnp.zeros(1 << 20))
    step = spmd.Step(lambda: setattr(variable, "value", variable.value + 1), mesh_of(4))
    step()
    checkpoint = Checkpoint(variable=variable)
    path = checkpoint.save(tmp_path / "ckpt")
    for _ in range(3):
        step()
    checkpoint.restore(path)
    np.testing.assert_array_equal(variable.value, 1)


def test_a_mirrored_variable_is_written_once(tmp_path, mesh_of):
    variable = spmd.Variable(jax.random.bits(jax.random.key(0), 1 << 16))
    spmd.Step(lambda: setattr(variable, "value", variable.value + 1), mesh_of(8))()
    path = saved(Checkpoint(variable=variable), tmp_path)
    size = sum(file.stat().st_size for file in (tmp_path / "ckpt").rglob("*") if file.is_file())
    assert size < 2 * 4 * (1 << 16), path


def test_a_mismatch_says_where_and_what(tmp_path):
    path = saved(Checkpoint(group={"a": jnp.ones(2), "b": 1, "c": jnp.ones(3)}), tmp_path)
    with pytest.raises(CheckpointError) as error:
        Checkpoint(group={"a": jnp.ones(3), "b": jnp.ones(1), "c": jnp.ones(3, jnp.int32)}).restore(
            path
        )
    text = str(error.value)
    assert "group/a: expected float32[3], found float32[2]" in text
    assert "group/b: expected an array, found a number or string" in text
    assert "group/c: expected int32[3], found float32[3]" in text


def test_nothing_is_restored_if_something_does_not_fit(tmp_path):
    good = spmd.Variable(jnp.ones(2))
    path = saved(Checkpoint(good=good, bad=jnp.ones(2)), tmp_path)
    good.value = jnp.zeros(2)
    with pytest.raises(CheckpointError):
        Checkpoint(good=good, bad=jnp.ones(3)).restore(path)
    np.testing.assert_array_equal(good.value, [0, 0])


def test_what_cannot_be_kept_is_refused_by_name():
    with pytest.raises(CheckpointError, match="cannot keep item, a object"):
        Checkpoint(item=object())
    checkpoint = Checkpoint(items=[object()])
    with pytest.raises(CheckpointError, match="cannot keep items/0"):
        checkpoint.save("unused")
    with pytest.raises(CheckpointError, match="'save' of its own"):
        Checkpoint(save=1)
    with pytest.raises(CheckpointError, match="names, an array of"):
        Checkpoint(names=np.array(["a"])).save("unused")


def test_a_path_without_a_checkpoint(tmp_path):
    with pytest.raises(CheckpointNotFoundError, match="may be missing the number"):
        Checkpoint(a=1).restore(tmp_path / "ckpt")
    with pytest.raises(FileNotFoundError):
        Checkpoint(a=1).restore(tmp_path / "ckpt")


def test_attributes_that_are_missing_are_named():
    checkpoint = Checkpoint(a=1)
    with pytest.raises(AttributeError, match="no 'b'; it has 'a'"):
        _ = checkpoint.b
    del checkpoint.a
    assert not hasattr(checkpoint, "a")


def test_no_checkpoint_in_a_step(tmp_path, mesh_of):
    checkpoint = Checkpoint(a=1)
    with pytest.raises(spmd.errors.StateError, match="cannot be saved in a step"):
        spmd.Step(lambda: checkpoint.save(tmp_path / "ckpt"), mesh_of(1))()


def test_a_path_is_replaced_when_the_new_one_is_there(tmp_path):
    checkpoint = Checkpoint(a=1)
    saved(checkpoint, tmp_path)
    checkpoint.a = 2
    path = saved(checkpoint, tmp_path)
    checkpoint.a = 0
    checkpoint.restore(path)
    assert checkpoint.a == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["ckpt"]


def test_what_goes_wrong_in_the_thread_is_raised_by_wait(tmp_path):
    def fail():
        raise OSError("the disk is full")

    checkpoint = Checkpoint(a=jnp.ones(2))
    checkpoint.save(tmp_path / "ckpt", done=fail)
    with pytest.raises(OSError, match="disk is full"):
        checkpoint.wait()
    checkpoint.wait()


def test_save_does_not_wait_for_the_disk(tmp_path):
    may_end = threading.Event()
    checkpoint = Checkpoint(a=1)
    path = checkpoint.save(tmp_path / "ckpt", done=lambda: may_end.wait(60))
    checkpoint.a = 2  # training goes on
    may_end.set()
    checkpoint.restore(path)
    assert checkpoint.a == 1


def test_the_timeout_is_that_of_a_cluster_that_is_joined_later(monkeypatch):
    checkpoint = Checkpoint(a=1)
    monkeypatch.setenv("JAXTRIBUTE_WATCHDOG_SECONDS", "5")
    assert checkpoint.timeout == 65
    assert Checkpoint(a=1, timeout=7).timeout == 7
