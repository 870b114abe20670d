"""Values that stay with a gang, and what stands for them."""

import pytest

import spmd
from spmd.servers import ServerVariables, Store
from spmd.servers.remote import Receiver, Reference, RemoteObject, Sender

pytest.importorskip("ray")


def test_a_closure_gets_the_value_itself():
    mesh, variables = spmd.make_mesh(["cpu:0"]), ServerVariables([Store()])
    sender, receiver = Sender(mesh, variables), Receiver(mesh, variables)
    known, value = sender.join(), ["a value"]
    receiver.kept[Reference(3, 1)] = value
    remote = RemoteObject(Reference(3, 1))
    (closure,) = receiver.unpack(sender.pack([lambda: remote], known))
    assert closure() is value
    sender.reset()
    (closure,) = receiver.unpack(sender.pack([lambda: (remote, remote)], known))
    assert closure() == (value, value)
