"""Who listens at an endpoint."""

import socket
from contextlib import closing

import pytest

from spmd.launch.agents.endpoint import listen_if_own
from tests.ports import free_ports


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_the_first_on_this_machine_listens_and_the_second_does_not(host: str) -> None:
    (port,) = free_ports(1)
    listener = listen_if_own(host, port)
    assert listener is not None
    with closing(listener):
        assert listener.getsockname()[0] in ("127.0.0.1", "::1")
        assert listen_if_own(host, port) is None


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_nobody_listens_for_another_machine(host: str) -> None:
    assert listen_if_own(host, 2222) is None


def test_a_machine_whose_name_is_a_loopback_address_listens_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = socket.getaddrinfo("127.0.1.1", 0, type=socket.SOCK_STREAM)
    original = socket.getaddrinfo

    def look_up(host, port, **options):
        return found if host == "node0" else original(host, port, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    (port,) = free_ports(1)
    listener = listen_if_own("node0", port)
    assert listener is not None
    with closing(listener):
        assert listener.getsockname()[0] in ("::", "0.0.0.0")
