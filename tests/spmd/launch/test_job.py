"""What a job takes, and what its tasks get."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmd.errors import LaunchError
from spmd.launch import Job, Roles
from spmd.launch.job import name_of


@given(st.text(max_size=80))
@settings(max_examples=30)
def test_every_text_gives_a_name_that_a_job_takes(text: str) -> None:
    Job(name_of(text), ("train.py",), Roles(1))


@pytest.mark.parametrize("name", ["", "Train", "1st", "a_b", "a-", "a" * 41])
def test_other_names_are_refused_with_one_that_fits(name: str) -> None:
    with pytest.raises(LaunchError, match=r"--name is .* Write, for example, --name [a-z]"):
        Job(name, ("train.py",), Roles(1))


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_other_ports_are_refused(port: int) -> None:
    with pytest.raises(LaunchError, match=f"between 1 and 65535, but it is {port}"):
        Job("a", ("train.py",), Roles(1), port=port)


@pytest.mark.parametrize("platforms", [None, "cpu", "cuda,cpu"])
def test_devices_are_simulated_on_the_cpu_only(platforms: str | None) -> None:
    environment = {"A": "b"} | ({} if platforms is None else {"JAX_PLATFORMS": platforms})
    job = Job("a", ("train.py",), Roles(1), environment, devices_per_worker=3)
    assert job.variables.items() >= environment.items()
    assert ("device_count=3" in job.variables.get("XLA_FLAGS", "")) == (platforms == "cpu")


def test_a_parameter_server_computes_on_the_processor_and_simulates_nothing() -> None:
    for platforms in ("cpu", "cuda"):
        roles = Roles(1, chief=True, ps=1)
        job = Job("a", ("train.py",), roles, {"JAX_PLATFORMS": platforms}, devices_per_worker=3)
        variables = job.variables_of("ps")
        assert variables["JAX_PLATFORMS"] == "cpu"
        assert "XLA_FLAGS" not in variables


def test_agents_get_the_settings_that_are_not_usual_in_a_form_that_they_read() -> None:
    roles = Roles(4, min_workers=2)
    seconds = {"backoff_seconds": 2.5, "settle_seconds": 0.5, "join_seconds": 7.0}
    job = Job("a", ("t.py",), roles, max_restarts=1_000_000, **seconds)
    words = job.agent_command("a:1")
    assert words[6:] == (
        *("--max-restarts", "1000000", "--backoff-seconds", "2.5"),
        *("--settle-seconds", "0.5", "--join-seconds", "7", "t.py"),
    )


@pytest.mark.parametrize("name", ["settle_seconds", "join_seconds", "backoff_seconds"])
def test_no_agent_waits_less_than_no_time(name: str) -> None:
    with pytest.raises(LaunchError, match=name.replace("_", "-")):
        Job("a", ("t.py",), Roles(1), **{name: -1.0})


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(Job("a", ("train.py",), Roles(1), token="secret"))


def test_the_title_stays_on_one_line() -> None:
    title = Job("a", ("train.py", "two\nlines", "x" * 100), Roles(2)).title
    assert title.endswith(" ...: 2 tasks")
    assert "\n" not in title
