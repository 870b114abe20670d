"""A Ray cluster that is there already."""

from spmd.cluster import RAY_ADDRESS_VARIABLE, ray_address


def test_its_address_is_in_a_variable() -> None:
    assert ray_address({RAY_ADDRESS_VARIABLE: "head-svc:6379"}) == "head-svc:6379"
    assert ray_address({RAY_ADDRESS_VARIABLE: ""}) is None
    assert ray_address({}) is None
