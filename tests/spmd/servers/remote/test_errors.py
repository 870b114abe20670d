"""Errors of a cluster that have parts."""

import pytest

from spmd.servers.remote.errors import UnknownHostError

pytest.importorskip("ray")


def test_an_unknown_host_and_where_its_name_comes_from():
    error = UnknownHostError("a", "Name not known")
    assert str(error) == "The host 'a' of the cluster cannot be found: Name not known."
    error = UnknownHostError(error.host, error.reason, "TF_CONFIG")
    assert str(error).endswith("cannot be found: Name not known. Check the addresses in TF_CONFIG.")
