"""What one parameter server does."""

import threading

import numpy as np
import pytest

from spmd.servers import Change, Store, UnknownVariableError
from spmd.state import SparseRows

KEY = (0, 0)


class Momentum:
    """A rule with one slot."""

    key = "momentum"

    def slots(self, value):
        return [np.zeros_like(value)]

    def update(self, value, slots, operand):
        gradient, rate = operand
        velocity = 0.9 * slots[0] - rate * gradient
        return value + velocity, [velocity]

    def is_by_row(self, value):
        return False


class Adagrad:
    """A rule that leaves rows without a gradient alone; it notes how many rows it gets."""

    key = "adagrad"

    def __init__(self):
        self.traced = []

    def slots(self, value):
        return [np.ones_like(value)]

    def update(self, value, slots, operand):
        gradient, rate = operand
        self.traced.append(len(value))
        total = slots[0] + gradient**2
        return value - rate * gradient / total**0.5, [total]

    def is_by_row(self, value):
        return True


@pytest.fixture
def store() -> Store:
    made = Store()
    made.create({KEY: np.arange(6, dtype=np.float32).reshape(3, 2)})
    made.add_rules([Momentum()])
    return made


def value(store: Store, key=KEY) -> np.ndarray:
    return store.pull({key: 0})[key][1]


@pytest.mark.parametrize(
    ("verb", "operand", "expected"),
    [
        ("set", np.ones((3, 2), np.float32), np.ones((3, 2))),
        ("add", np.float32(1), np.arange(6).reshape(3, 2) + 1),
        ("subtract", np.float32(1), np.arange(6).reshape(3, 2) - 1),
        ("multiply", np.float32(2), np.arange(6).reshape(3, 2) * 2),
        ("divide", np.float32(2), np.arange(6).reshape(3, 2) / 2),
        ("max", np.float32(3), np.maximum(np.arange(6).reshape(3, 2), 3)),
        ("min", np.float32(3), np.minimum(np.arange(6).reshape(3, 2), 3)),
    ],
)
def test_updates_of_the_whole_value(store, verb, operand, expected):
    store.push([Change(KEY, verb, operand)])
    np.testing.assert_array_equal(value(store), expected)
    assert value(store).dtype == np.float32


def test_updates_of_rows_add_up_where_rows_repeat(store):
    rows = np.ones((3, 2), np.float32)
    store.push([Change(KEY, "add", rows, (np.array([1, 1, 2]),))])
    np.testing.assert_array_equal(value(store), [[0, 1], [4, 5], [5, 6]])
    store.push([Change(KEY, "set", np.float32(9), (slice(0, 1),))])
    np.testing.assert_array_equal(value(store)[0], [9, 9])


def test_only_what_changed_is_handed_out(store):
    version, _ = store.pull({KEY: 0})[KEY]
    assert store.pull({KEY: version}) == {}
    store.push([Change(KEY, "add", np.float32(1))])
    assert list(store.pull({KEY: version})) == [KEY]


@pytest.mark.parametrize("index", [None, (np.array([0]),)])
def test_a_value_that_was_handed_out_never_changes(store, index):
    before = value(store)
    copy = before.copy()
    store.push([Change(KEY, "add", np.float32(1), index)])
    np.testing.assert_array_equal(before, copy)
    assert value(store)[0, 0] == 1


def test_rows_are_handed_out_by_themselves(store):
    found = store.rows({KEY: np.array([2, 0])})
    np.testing.assert_array_equal(found[KEY], [[4, 5], [0, 1]])
    store.push([Change(KEY, "add", np.float32(1), (np.array([2]),))])
    np.testing.assert_array_equal(found[KEY], [[4, 5], [0, 1]])


def test_a_rule_keeps_its_slots_beside_the_value(store):
    gradient = np.ones((3, 2), np.float32)
    expected, velocity = value(store), np.zeros((3, 2))
    slot = (*KEY, "momentum", 0)
    assert store.pull({slot: 0}) == {}  # there is none yet
    for _ in range(3):
        store.push([Change(KEY, "apply", (gradient, np.float32(0.5)), rule="momentum")])
        velocity = 0.9 * velocity - 0.5
        expected = expected + velocity
    np.testing.assert_allclose(value(store), expected, rtol=1e-6)
    np.testing.assert_allclose(value(store, slot), velocity, rtol=1e-6)


def test_a_slot_can_be_assigned_before_and_after_the_first_update(store):
    slot, gradient = (*KEY, "momentum", 0), np.zeros((3, 2), np.float32)
    apply = Change(KEY, "apply", (gradient, np.float32(0.5)), rule="momentum")
    for _ in range(2):
        store.push([Change(slot, "set", np.ones((3, 2), np.float32))])
        np.testing.assert_array_equal(value(store, slot), np.ones((3, 2)))
        store.push([apply])
        np.testing.assert_allclose(value(store, slot), np.full((3, 2), 0.9), rtol=1e-6)


def test_a_slot_can_be_changed_in_part_and_looked_up(store):
    slot, gradient = (*KEY, "momentum", 0), np.ones((3, 2), np.float32)
    expected = np.zeros((3, 2), np.float32)
    for _ in range(2):
        store.push([Change(slot, "add", np.full((3, 2), 2, np.float32))])
        store.push([Change(slot, "set", np.float32(7), (np.array([1]),))])
        expected += 2
        expected[1] = 7
        np.testing.assert_allclose(value(store, slot), expected, rtol=1e-6)
        np.testing.assert_allclose(store.rows({slot: np.array([2, 1])})[slot], expected[[2, 1]])
        store.push([Change(KEY, "apply", (gradient, np.float32(0.5)), rule="momentum")])
        expected = np.float32(0.9) * expected - np.float32(0.5)


def test_a_slot_of_an_unknown_rule_can_only_be_assigned(store):
    slot = (*KEY, "unknown", 0)
    with pytest.raises(ValueError, match="before the optimizer was applied"):
        store.push([Change(slot, "add", np.float32(1))])
    with pytest.raises(ValueError, match="before the optimizer was applied"):
        store.rows({slot: np.array([0])})
    store.push([Change(slot, "set", np.ones((3, 2), np.float32))])
    assert store.rows({slot: np.array([0])})[slot].tolist() == [[1, 1]]


@pytest.mark.parametrize("rule", [Momentum(), Adagrad()])
def test_a_gradient_of_few_rows_is_that_gradient_with_zeros(rule):
    sparse, whole = Store(), Store()
    initial = np.random.default_rng(0).normal(size=(100, 2)).astype(np.float32)
    slot = (*KEY, rule.key, 0)
    for store in (sparse, whole):
        store.create({KEY: initial})
        store.add_rules([rule])
    for number, count in enumerate((3, 0, 20, 3)):
        indices = np.sort(np.random.default_rng(number).permutation(100)[:count])
        rows, gradient = initial[indices] + number, np.zeros_like(initial)
        gradient[indices] = rows
        held, before = value(sparse), value(sparse, slot) if number else None
        copies = held.copy(), None if before is None else before.copy()
        for store, operand in ((sparse, SparseRows(indices, rows)), (whole, gradient)):
            store.push([Change(KEY, "apply", (operand, np.float32(0.1)), rule=rule.key)])
        np.testing.assert_allclose(value(sparse), value(whole), rtol=1e-6)
        np.testing.assert_allclose(value(sparse, slot), value(whole, slot), rtol=1e-6)
        np.testing.assert_array_equal(held, copies[0])  # as it was handed out
        if before is not None:
            np.testing.assert_array_equal(before, copies[1])
    if isinstance(rule, Adagrad):
        assert sorted(rule.traced) == [16, 32, 100]


def test_concurrent_updates_are_never_lost(store):
    change = Change(KEY, "apply", (np.ones((3, 2), np.float32), np.float32(1)), rule="momentum")

    def push() -> None:
        for _ in range(50):
            store.push([Change(KEY, "add", np.float32(1)), change])

    threads = [threading.Thread(target=push) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    velocity, total = 0.0, 0.0
    for _ in range(200):
        velocity = 0.9 * velocity - 1.0
        total += velocity
    assert store.changes == 400
    np.testing.assert_allclose(value(store)[0, 0], 200 + total, rtol=1e-4)


def test_a_value_that_is_there_stays_when_it_is_created_again(store):
    store.create({KEY: np.zeros((3, 2), np.float32)})
    assert value(store)[2, 1] == 5


def test_an_unknown_key_is_an_error_that_says_what_happened(store):
    with pytest.raises(UnknownVariableError, match="was started anew"):
        store.pull({(7, 0): 0})


class ByRow:
    """A rule that leaves rows without a gradient alone, and counts what it got beside each element."""

    key = "by row"

    def is_by_row(self, value):
        return True

    def slots(self, value):
        return [np.full(np.shape(value), 0.5, np.float32)]

    def update(self, value, slots, operand):
        (gradient,) = operand
        return value - gradient, [slots[0] + gradient]


def test_a_number_has_slots_like_rows(store):
    store.add_rules([ByRow()])
    store.create({("number", 0): np.float32(3)})
    store.push([Change(("number", 0), "apply", (np.float32(1),), rule="by row")])
    keys = ("number", 0), ("number", 0, "by row", 0)
    assert [float(store.pull({key: 0})[key][1]) for key in keys] == [2.0, 1.5]


def _of_rows(key, indices, rate=0.1) -> Change:
    rows = SparseRows(np.array(indices), np.ones((len(indices), 2), np.float32))
    return Change(key, "apply", (rows, np.float32(rate)), rule="adagrad")


def test_rows_of_several_values_are_updated_together(store):
    rule, keys = Adagrad(), [("a", 0), ("b", 0), ("c", 0)]
    store.add_rules([rule])
    store.create({key: np.zeros((40, 2), np.float32) for key in keys})
    # The third has another rate.
    changes = [_of_rows(keys[0], range(9)), _of_rows(keys[1], range(4, 12))]
    store.push([*changes, _of_rows(keys[2], [7], 1)])
    assert rule.traced == [32, 16]
    found = [np.flatnonzero(value(store, key)[:, 0]).tolist() for key in keys]
    assert found == [[*range(9)], [*range(4, 12)], [7]]
    assert value(store, keys[0])[5, 0] * 10 == pytest.approx(value(store, keys[2])[7, 0])


def test_two_gradients_of_a_value_are_applied_one_after_the_other(store):
    store.add_rules([Adagrad()])
    store.push([_of_rows(KEY, [0], 1), Change(KEY, "add", np.float32(1)), _of_rows(KEY, [0], 1)])
    assert value(store)[0, 0] == pytest.approx(1 - 1 / 2**0.5 - 1 / 3**0.5)
    assert store.changes == 3


def test_clients_that_update_values_in_other_orders_do_not_wait_for_each_other(store):
    other = ("other", 0)
    store.create({other: np.zeros((3, 2), np.float32)})
    store.add_rules([Adagrad()])

    def push(keys) -> None:
        for _ in range(200):
            store.push([_of_rows(key, [0, 2]) for key in keys])

    threads = [threading.Thread(target=push, args=(keys,)) for keys in ([KEY, other], [other, KEY])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert store.changes == 800


def test_deleted_values_and_what_was_compiled_for_them_are_gone(store):
    kept, rule = ("kept", 0), Adagrad()
    store.add_rules([rule])
    store.create({kept: np.zeros((3, 2), np.float32)})
    store.push([_of_rows(KEY, [0]), _of_rows(kept, [0])])
    store.delete([KEY, ("unknown", 0)])
    with pytest.raises(UnknownVariableError):
        store.pull({KEY: 0})
    store.push([_of_rows(kept, [1])])
    assert rule.traced == [16], "another value has the rule"
    store.delete([kept])
    store.create({kept: np.zeros((3, 2), np.float32)})
    store.push([_of_rows(kept, [1])])
    assert rule.traced == [16, 16], "compiled anew"
    assert value(store, kept)[:, 0].tolist() == pytest.approx([0, -0.1 / 2**0.5, 0])


def test_what_a_gradient_changed_before_another_one_failed_is_handed_out(store):
    class Failing(Momentum):
        key = "failing"

        def update(self, value, slots, operand):
            raise ArithmeticError

    large = ("large", 0)
    store.add_rules([Failing()])
    store.create({large: np.zeros(1 << 17, np.float32)})
    version, _ = store.pull({KEY: 0})[KEY]
    gradient = np.ones((3, 2), np.float32), np.float32(1)
    with pytest.raises(ArithmeticError):
        store.push(
            [
                Change(KEY, "apply", gradient, rule="momentum"),
                Change(large, "apply", (np.float32(1),), rule="failing"),
            ]
        )
    assert store.pull({KEY: version})[KEY][1][0].tolist() == [-1, 0]


def test_deleted_slots_start_anew_and_what_was_compiled_for_them_is_gone(store):
    rule, slot = Adagrad(), (*KEY, "adagrad", 0)
    store.add_rules([rule])
    store.push([_of_rows(KEY, [0])])
    store.push([Change((*KEY, "momentum", 0), "set", np.ones((3, 2), np.float32))])
    store.delete([slot, (*KEY, "momentum", 0), (*KEY, "unknown", 0), ("unknown", 0, "adagrad", 0)])
    assert store.pull({slot: 0, (*KEY, "momentum", 0): 0}) == {}
    assert list(store.pull({KEY: 0})) == [KEY]
    store.push([_of_rows(KEY, [0])])
    assert rule.traced == [16, 16], "compiled anew"
    assert value(store, slot)[0].tolist() == [2, 2]
