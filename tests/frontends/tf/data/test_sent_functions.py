"""Functions as other processes get them."""

import pickle

import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.base import map_function
from frontends.tf.data.sent_functions import sending_of
from frontends.tf.ops.map_stream import MapStream
from frontends.tf.ops.seeds import seed_setting

OFFSET = np.float32(1)


def noisy(x):
    return x + OFFSET + tf.random.uniform([]).numpy() + tf.image.random_brightness([[[0.0]]], 1.0)


def sent(function):
    return pickle.loads(function.sending.pickled())()  # noqa: S301


def drawn(function):
    return np.asarray(function.one(np.float32(3))).item()


def test_there_it_is_the_same_function_with_numbers_of_each_call():
    here = map_function(noisy, "map: map_func")
    there = sent(here)
    draws = [here.sending.draws() for _ in range(2)]
    assert draws[0] != draws[1]
    found = []
    for draw in (*draws, draws[0]):
        there.sending.draw_from(draw)
        found.append(drawn(there))
    assert found[0] == found[2] != found[1]
    assert all(3 < one < 6 for one in found)


def test_the_global_seed_goes_along():
    there = sent(map_function(noisy, "map: map_func"))
    tf.random.set_seed(5)
    here = map_function(noisy, "map: map_func")
    draws = here.sending.draws()
    tf.random.set_seed(None)
    there.sending.draw_from(draws)
    assert seed_setting().value == 5
    tf.random.set_seed(None)


def test_functions_of_the_users_modules_travel_themselves():
    pickled = map_function(noisy, "map: map_func").sending.pickled()
    assert b"random_brightness" in pickled
    # Afterwards modules are pickled by name again.
    assert b"random_brightness" not in pickle.dumps(noisy)


def test_what_is_not_plain_stays_here():
    assert sending_of(print, lambda value: None, MapStream()) is None


@pytest.mark.slow
@pytest.mark.parametrize("batched_first", [False, True])
def test_a_dataset_whose_maps_run_in_processes(monkeypatch, batched_first):
    monkeypatch.setenv("JAXTRIBUTE_MAP_PROCESSES", "2")
    texts = [b"%d" % number for number in range(400)]
    dataset = tf.data.Dataset.from_tensor_slices(texts)
    if batched_first:
        dataset = dataset.batch(8)
    dataset = dataset.map(lambda text: tf.strings.to_number(text, tf.int32), num_parallel_calls=2)
    if not batched_first:
        dataset = dataset.batch(8)
    step = dataset._form().step
    offloader = getattr(step, "step", step).offloader
    list(dataset)
    while not offloader._workers.are_ready():
        pass
    iterator = iter(dataset)
    first = [next(iterator) for _ in range(3)]
    state = iterator.get_state()
    rest = np.concatenate(list(iterator)).tolist()
    assert np.concatenate(first).tolist() + rest == list(range(400))
    other = iter(dataset)
    other.set_state(state)
    assert np.concatenate(list(other)).tolist() == rest
    assert not offloader._never
