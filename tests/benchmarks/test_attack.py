"""What is sent in an attack, and one whole attack."""

import json

import pytest

from tests.benchmarks import attack


def test_attacks_know_the_cluster_and_nothing_secret() -> None:
    sent = attack.attacks(["a:1", "b:2"])
    hello = json.loads(sent["the hello of worker 1"])
    assert (hello["process_id"], hello["addresses"]) == (1, ["a:1", "b:2"])
    assert "proof" not in hello
    assert len(sent["500 kB without an end"]) == 500_000


@pytest.mark.slow
@pytest.mark.multiprocess
def test_a_job_is_none_the_worse_for_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert attack.main([]) == 0
    said = capfd.readouterr().out
    assert said.count("status 0; 0 answers told of the cluster; 0 control characters") == 2
    assert {"gathers", "starts", "trains"} <= set(said.split())
