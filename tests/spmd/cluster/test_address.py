"""How addresses are written."""

import pytest

from spmd.cluster.address import (
    canonical_host,
    is_loopback,
    join_address,
    read_address,
    read_port,
    split_address,
)


@pytest.mark.parametrize("address", ["a:1", "[::1]:65535", "10.0.0.1:2222"])
def test_addresses_are_taken_apart_and_put_together(address):
    assert join_address(*split_address(address)) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a",
        ":1",
        "a:",
        "a:b",
        "a:0",
        "a:65536",
        "a:-1",
        "a b:1",
        "[::1:1",
        "::1:1",
        "a:\u0661",
        "a/b:1",
    ],
)
def test_malformed_addresses(address):
    with pytest.raises(ValueError, match=r'an address such as "10\.0\.0\.1:2222"'):
        split_address(address)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ("a", None)),
        ("a:", ("a", "")),
        ("a:x", ("a", "x")),
        ("[fe80::1%eth0]:1", ("[fe80::1%eth0]", "1")),
        ("[fe80::1%a b]:1", None),
        ("a:1:2", None),
        ("[]:1", None),
    ],
)
def test_what_an_address_consists_of(text, parts):
    assert read_address(text) == parts


def test_ports():
    assert [read_port(text) for text in ("1", "065", "65535", "65536", "", "\u0661", None)] == [
        *(1, 65, 65535),
        *(None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("host", "same", "local"),
    [
        ("LOCALHOST", "127.0.0.1", True),
        ("a.localhost.", "127.0.0.1", False),
        ("[0:0::1]", "::1", False),
        ("::1", "::1", True),
        ("Node0.", "node0", False),
    ],
)
def test_texts_that_mean_the_same(host, same, local):
    assert canonical_host(host) == same
    assert is_loopback(host) == local
