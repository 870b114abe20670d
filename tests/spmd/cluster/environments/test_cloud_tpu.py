"""Cloud TPUs of several hosts."""

import pytest

from spmd.cluster.environments import has_several_tpu_hosts


@pytest.mark.parametrize(
    ("environment", "several"),
    [
        ({"TPU_WORKER_HOSTNAMES": "a,b"}, True),
        ({"TPU_PROCESS_ADDRESSES": "a:8476,b:8476"}, True),
        ({"TPU_WORKER_HOSTNAMES": "a", "MEGASCALE_NUM_SLICES": "2"}, True),
        ({"TPU_WORKER_HOSTNAMES": "localhost"}, False),
        ({"MEGASCALE_NUM_SLICES": "2"}, False),
    ],
)
@pytest.mark.usefixtures("libtpu")
def test_hosts_and_slices(environment, several):
    assert has_several_tpu_hosts(environment) == several


def test_without_libtpu_it_is_no_tpu():
    assert not has_several_tpu_hosts({"TPU_WORKER_HOSTNAMES": "a,b"})
