"""Objects that a coordinator and its workers share, here with both in one process."""

import gc
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.servers import ServerVariables, Store, keep_on_workers
from spmd.servers.remote import Receiver, Sender, receiving
from spmd.servers.remote.shared_objects import dumps

pytest.importorskip("ray")


class _Ends:
    """A coordinator's end and a worker's, over one store."""

    def __init__(self) -> None:
        self.store = Store()
        self.mesh = spmd.make_mesh(["cpu:0"])
        self.variables = ServerVariables([self.store])
        self.sender = Sender(self.mesh, self.variables)
        self.receiver = Receiver(spmd.make_mesh(["cpu:1"]), ServerVariables([self.store]))
        self.known = self.sender.join()
        self.sent = []

    def __call__(self, value):
        """Sends a value through a closure; returns the worker's copy."""
        package = self.sender.pack([lambda: value], self.known)
        self.sent.append([number for number, _ in package.made])
        (closure,) = self.receiver.unpack(package)
        return closure()


@pytest.fixture
def send():
    return _Ends()


class _Node:
    def __init__(self, value: object = None) -> None:
        self.value = value
        self.next: _Node | None = None


class _Kept(_Node):
    pass


keep_on_workers(_Kept)


def test_an_object_is_sent_once(send):
    node = _Node(1)
    first, second = send(node), send(node)
    assert first is second
    assert first is not node
    assert first.value == 1
    # The second time only the closure itself is new.
    assert [len(made) > 1 for made in send.sent] == [True, False]


def test_objects_in_a_circle(send):
    node = _Node()
    node.next = _Node(node)
    copy = send(node)
    assert copy.next.value is copy


def test_a_list_that_keeps_its_identity_has_its_items(send):
    class Items(list):
        pass

    items = Items([_Node(1), _Node(2)])
    node = _Node(items)
    copy = send(node)
    assert [one.value for one in copy.value] == [1, 2]
    assert send(items) is copy.value


def test_what_is_gone_is_forgotten(send):
    node = _Node(1)
    number = send.sender.number(node)
    send(node)
    assert number in send.receiver._objects
    del node
    gc.collect()
    send(None)
    assert number not in send.receiver._objects


def test_reset_sends_all_but_what_is_kept(send):
    node, kept = _Node(1), _Kept(1)
    first, first_kept = send(node), send(kept)
    node.value = kept.value = 2
    send.sender.reset()
    assert send(node) is not first
    assert send(node).value == 2
    assert send(kept) is first_kept
    assert first_kept.value == 1


def test_functions_share_the_names_of_their_module(send):
    names = {"__name__": "elsewhere", "count": _Node(0)}
    exec("def add():\n    count.value += 1\n\ndef read():\n    return count.value", names)
    add, read = send(names["add"]), send(names["read"])
    add()
    add()
    assert read() == 2
    assert names["count"].value == 0
    assert send(names["read"]) is read


def test_names_in_annotations_and_defaults_travel(send):
    copy = send(_annotated)
    assert {"_Node", "_Kept"} <= copy.__globals__.keys()


def _annotated(value: "int" = 1, node: _Node = _Kept()) -> None:  # noqa: B008 -- what is tested
    pass


def test_arrays_keys_and_locks(send):
    node = _Node((jnp.arange(3), jax.random.key(7), threading.Lock()))
    array, key, lock = send(node).value
    np.testing.assert_array_equal(array, [0, 1, 2])
    assert jax.random.uniform(key) == jax.random.uniform(jax.random.key(7))
    with lock:
        pass


def test_a_mesh_is_the_workers_own(send):
    assert send(_Node(send.mesh)).value is send.receiver.mesh
    assert receiving() is None


def test_a_device_is_the_workers_first(send):
    first = send.receiver.mesh.devices.flat[0]
    other = next(one for one in jax.devices() if one != first)
    assert send(_Node(other)).value is first


def test_a_variable_on_the_servers_is_sent_without_its_value(send):
    variable = spmd.Variable(np.full(100_000, 7.0, np.float32))
    send.variables.bind(variable)
    assert len(send.sender.pack([lambda: variable], send.sender.join()).filled[-1][1]) < 4000
    copy = send(variable)
    assert float(copy.value[0]) == 7.0
    copy.value = copy.value + 1
    assert float(variable.value[-1]) == 8.0


def test_the_programs_own_variable_moves_to_the_servers_with_its_value(send):
    variable = spmd.Variable(np.float32(3.0))

    def add():
        variable.value = variable.value + 1

    step = spmd.Step(add, send.mesh)
    step()  # compiled for a variable that nobody else has
    copy = send(variable)
    assert float(copy.value) == 4.0
    copy.value = copy.value + 1
    assert float(variable.value) == 5.0
    step()
    assert float(copy.value) == 6.0


def test_a_key_of_random_numbers_is_sent_with_its_value(send):
    variable = spmd.Variable(jax.random.key(3), kind="key")
    copy = send(variable)
    copy.value = jax.random.key(4)
    assert variable.value == jax.random.key(3)


def test_a_result_has_the_values_of_variables(send):
    variable = spmd.Variable(np.float32(3.0))
    assert send.sender.load(dumps([variable, 1])) == [3.0, 1]


def test_a_variable_that_nothing_has_read_is_a_result_with_its_value(send):
    variable = spmd.Variable(np.float32(3.0))
    send.variables.bind(variable)
    assert send.sender.load(dumps([send(variable), 1])) == [3.0, 1]


def test_what_cannot_be_copied_is_named_by_the_way_that_leads_to_it(send):
    node = _Node({"files": [(line for line in "")]})
    remedy = r"value.value\['files'\]\[0\] in the function <lambda> is of type generator"
    with pytest.raises(TypeError, match=remedy):
        send(node)


def test_what_cannot_be_copied_is_an_error_and_is_not_known(send):
    class Bad(_Node):
        def __getstate__(self):
            raise TypeError("holds a socket")

    bad = Bad()
    for _ in range(2):
        with pytest.raises(TypeError, match="holds a socket"):
            send(bad)
