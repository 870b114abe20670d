"""What a leader tells its agents, with agents that do what a test says."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spmd.launch.agents.leader import Leader, Member, Patience
from spmd.launch.agents.start import Start
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.tasks import Roles

SETTLE, JOIN = 30.0, 600.0


class Agent(Member):
    """A member, and what it was sent."""

    def __init__(self, name: str, port: int = 20_000, leads: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        super().__init__(
            name, f"10.0.0.{name}", lambda one: self.sent.append(dict(one)), leads, port
        )

    def heard(self, kind: str) -> list[Any]:
        return [message[kind] for message in self.sent if kind in message]


class Job:
    """A leader of 2 to 4 workers, its agents, and a clock."""

    def __init__(
        self, agents: int = 0, restarts: int = 3, interruptions: int = 100, **roles
    ) -> None:
        self.now, self.said, self.come_so_far = 1000.0, list[str](), 0
        policy = RestartPolicy(restarts, backoff_seconds=2.0)
        patience = Patience(SETTLE, JOIN, interruptions)
        roles = Roles(4, **{"min_workers": 2, **roles})
        self.leader = Leader(roles, policy, patience, self.said.append, "job", self.now)
        self.agents = [self.come(leads=not index) for index in range(agents)]

    def come(self, **options: Any) -> Agent:
        self.come_so_far += 1
        agent = Agent(str(self.come_so_far), **options)
        self.leader.join(agent, self.now)
        self.leader.poll(self.now)
        return agent

    def go(self, agent: Agent) -> None:
        self.leader.leave(agent, "has gone", self.now)
        self.leader.poll(self.now)

    def end(self, agent: Agent, code: int = 0, **more: Any) -> None:
        """Ends a worker, whose agent is ready for another one then."""
        said = {"ended": code, "seconds": 40.0, "last_lines": ["why"], "port": 20_001, **more}
        self.leader.hear(agent, said, self.now)
        self.wait(0)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        for _ in range(2):
            self.leader.poll(self.now)

    @property
    def indices(self) -> list[tuple[str, int]]:
        """Who runs which worker in the latest attempt that has started."""
        last = {agent.name: agent.heard("start") for agent in self.leader.members}
        attempt = max((each["attempt"] for starts in last.values() for each in starts), default=-1)
        return [
            (name, start["task"])
            for name, starts in last.items()
            for start in starts
            if start["attempt"] == attempt
        ]

    def stopped(self) -> list[str]:
        return [agent.name for agent in self.leader.members if agent.heard("stop")]


def test_all_start_at_once_when_they_are_there() -> None:
    job = Job(agents=4)
    for index, agent in enumerate(job.agents):
        (start,) = agent.heard("start")
        addresses = [f"10.0.0.{number}:20000" for number in (1, 2, 3, 4)]
        assert start == {
            "attempt": 0,
            "task": index,
            "job": "job",
            "addresses": addresses,
            **{"restarts": 0, "interruptions": 0},
        }


def test_fewer_start_once_nobody_has_come_for_a_while() -> None:
    job = Job(agents=2)
    job.wait(SETTLE - 1)
    third = job.come()
    job.wait(SETTLE - 1)
    assert not third.sent
    job.wait(1)
    assert job.indices == [("1", 0), ("2", 1), ("3", 2)]


def test_worker_0_is_on_the_leaders_machine() -> None:
    job = Job(agents=0)
    other, own = job.come(), job.come(leads=True)
    job.wait(SETTLE)
    assert [own.index, other.index] == [0, 1]


def test_too_few_wait_and_give_up() -> None:
    job = Job(agents=1)
    job.wait(JOIN)
    assert job.leader.status is None
    job.wait(1)
    assert job.leader.status == 143
    assert job.agents[0].heard("over") == [143]
    assert "only 1 came" in job.said[-1]
    assert not job.agents[0].heard("start")


def test_the_job_is_over_when_all_workers_have_ended_well() -> None:
    job = Job(agents=4)
    for agent in job.agents[:3]:
        job.end(agent)
    assert job.leader.status is None
    job.end(job.agents[3])
    assert job.leader.status == 0
    assert [agent.heard("over") for agent in job.agents] == [[0]] * 4


def test_without_a_lost_agent_the_others_go_on() -> None:
    job = Job(agents=4)
    job.go(job.agents[1])
    assert job.stopped() == ["1", "3", "4"]
    for agent in (job.agents[0], *job.agents[2:]):
        job.end(agent, 143)
    job.wait(SETTLE - 1)
    assert len(job.indices) == 3  # those of the first attempt
    job.wait(1)
    assert job.indices == [("1", 0), ("3", 1), ("4", 2)]
    assert job.agents[2].heard("start")[1]["addresses"] == [
        *("10.0.0.1:20001", "10.0.0.3:20001", "10.0.0.4:20001")
    ]


def test_one_that_comes_back_soon_is_waited_for() -> None:
    job = Job(agents=4)
    job.go(job.agents[1])
    for agent in (job.agents[0], *job.agents[2:]):
        job.end(agent, 143)
    back = job.come()
    assert back.heard("start")[0]["attempt"] == 1
    assert len(job.indices) == 4


def test_agents_that_come_are_taken_in_together() -> None:
    job = Job(agents=2)
    job.wait(SETTLE)
    third = job.come()
    job.wait(SETTLE - 1)
    assert not job.stopped()
    job.come()  # now there are as many as may be
    assert job.stopped() == ["1", "2"]
    assert not third.sent
    for agent in job.agents:
        job.end(agent, 143)
    assert job.indices == [("1", 0), ("2", 1), ("3", 2), ("4", 3)]


def test_one_that_comes_alone_is_taken_in_after_a_while() -> None:
    job = Job(agents=2)
    job.wait(SETTLE)
    job.come()
    job.wait(SETTLE)
    assert job.stopped() == ["1", "2"]
    for agent in job.agents:
        job.end(agent, 143)
    assert len(job.indices) == 3  # at once: it has settled


def test_a_spare_agent_takes_the_place_of_a_lost_one() -> None:
    job = Job(agents=4)
    spare = job.come()
    job.wait(SETTLE)
    assert not job.stopped()
    job.go(job.agents[3])
    for agent in job.agents[:3]:
        job.end(agent, 143)
    assert spare.heard("start")[0]["task"] == 3


def test_nobody_is_taken_in_when_some_workers_are_done() -> None:
    job = Job(agents=2)
    job.wait(SETTLE)
    job.end(job.agents[0])
    job.come()
    job.wait(SETTLE)
    assert not job.stopped()
    job.end(job.agents[1])
    assert job.leader.status == 0


def test_workers_that_end_well_when_asked_to_have_finished_the_training() -> None:
    job = Job(agents=2)
    job.wait(SETTLE)
    job.come()
    job.wait(SETTLE)
    for agent in job.agents:
        job.end(agent, 0)
    assert job.leader.status == 0


def test_an_error_makes_all_start_again_after_the_backoff() -> None:
    job = Job(agents=4)
    job.end(job.agents[2], 1)
    assert job.stopped() == ["1", "2", "4"]
    for agent in (*job.agents[:2], job.agents[3]):
        job.end(agent, 143)
    job.wait(1)
    assert len(job.agents[0].heard("start")) == 1
    job.wait(1)
    assert len(job.indices) == 4
    assert "restart 1 of 3 in 2 s" in job.said[-2]
    (row,) = job.leader.rows
    assert (row.task, row.how, row.last_lines) == ("worker 2 on 3", "exit code 1", ("why",))


def test_restarts_come_to_an_end() -> None:
    job = Job(agents=4, restarts=1)
    for _ in range(2):
        for agent in job.agents:
            job.end(agent, -9)
        job.wait(10)
    assert job.leader.status == 137
    assert job.agents[3].heard("over") == [137]
    assert "all 1 restarts are used up" in job.said[-1]


def test_a_lost_agent_uses_up_no_restart_even_if_the_others_are_heard_of_first() -> None:
    job = Job(agents=4, restarts=0)
    job.end(job.agents[0], 143)
    job.go(job.agents[1])
    for agent in job.agents[2:]:
        job.end(agent, 143)
    job.wait(SETTLE)
    assert job.leader.status is None
    assert len(job.indices) == 3
    assert job.leader.rows[0].how == "agent lost"


def test_the_cause_is_told_of_when_a_consequence_was_heard_of_first() -> None:
    job = Job(agents=4)
    job.end(job.agents[0], 143)
    job.end(job.agents[1], 3)
    job.end(job.agents[2], 143)
    job.end(job.agents[3], 143)
    assert job.leader.rows[0].how == "exit code 3"


def test_losses_come_to_an_end() -> None:
    job = Job(agents=4, interruptions=1)
    for lost in (job.agents[3], job.agents[2]):
        job.go(lost)
        for agent in job.agents[: job.agents.index(lost)]:
            job.end(agent, 143)
        job.wait(SETTLE)
    assert job.leader.status == 1
    assert "--max-interruptions 1" in job.said[-1]


@pytest.mark.parametrize("code", [143, 0])
def test_a_machine_that_is_taken_away_uses_up_no_restart(code: int) -> None:
    job = Job(agents=4, restarts=0)
    job.leader.hear(job.agents[3], {"leaving": True}, job.now)
    assert not job.stopped()  # its worker saves, with the others
    job.end(job.agents[3], code, port=None)
    assert job.stopped() == ["1", "2", "3"]
    for agent in job.agents[:3]:
        job.end(agent, 143)
    job.go(job.agents[3])
    job.wait(SETTLE)
    assert job.indices == [("1", 0), ("2", 1), ("3", 2)]


def test_a_machine_that_is_taken_away_at_the_end_ends_nothing_else() -> None:
    job = Job(agents=4)
    job.leader.hear(job.agents[3], {"leaving": True}, job.now)
    for agent in reversed(job.agents):
        job.end(agent, 0)
    assert job.leader.status == 0


@pytest.mark.parametrize("runs", [True, False])
def test_an_interrupt_of_the_leader_ends_the_job(runs: bool) -> None:
    job = Job(agents=4 if runs else 2)
    job.leader.hear(job.agents[1], {"leaving": True, "interrupt": True}, job.now)
    assert not job.stopped()  # only that agent leaves
    job.leader.hear(job.agents[0], {"leaving": True, "interrupt": True}, job.now)
    if runs:
        for agent in job.agents:
            job.end(agent, 143)
    assert job.leader.status == (143 if runs else 130)
    assert job.agents[1].heard("over") == [job.leader.status]


def test_a_new_leader_goes_on_counting() -> None:
    job = Job()
    agents = [Agent(str(number)) for number in range(4)]
    for attempt, agent in zip((0, 3, 3, 2), agents, strict=True):
        last = Start(attempt - 1, 0, ["a:1"], "former", 2, 7) if attempt else None
        job.leader.join(agent, job.now, last)
    job.wait(0)
    (start,) = agents[0].heard("start")
    assert (start["attempt"], start["job"]) == (3, "former")
    assert (start["restarts"], start["interruptions"]) == (2, 7)
    for _ in range(2):
        for agent in agents:
            job.end(agent, 1)
        job.wait(10)
    assert len(agents[0].heard("start")) == 2
    assert any("restart 3 of 3" in text for text in job.said)
    assert job.leader.status == 1  # they are used up


def test_who_comes_after_the_end_hears_of_it() -> None:
    job = Job(agents=4)
    for agent in job.agents:
        job.end(agent)
    assert job.come().heard("over") == [0]


def test_a_fixed_number_of_workers_is_waited_for() -> None:
    job = Job(agents=3, min_workers=None)
    job.wait(SETTLE)
    assert not job.indices
    job.come()
    assert len(job.indices) == 4


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
_KEYS = st.sampled_from(["ended", "port", "leaving", "interrupt", "seconds", "last_lines", "x"])


@given(st.lists(st.dictionaries(_KEYS, _JSON), max_size=8))
@example([{"ended": 10**6, "port": 20_001}])
@example([{"ended": -(10**6), "port": 20_001}])
@example([{"ended": 143, "port": 10**6}])
@example([{"ended": 143, "port": -1}])
@settings(max_examples=100)
def test_no_message_is_too_odd(messages: list[dict]) -> None:
    """An agent of another release may say anything; the job goes on or ends, but the leader does not."""
    job = Job(agents=4, restarts=0)
    for message in messages:
        job.leader.hear(job.agents[1], message, job.now)
        for agent in (job.agents[0], *job.agents[2:]):
            job.end(agent, 143)
        job.wait(SETTLE)
        for start in job.agents[1].heard("start"):
            ports = [int(address.rpartition(":")[2]) for address in start["addresses"]]
            assert all(0 < port < 1 << 16 for port in ports)
    assert job.leader.status is None or 0 <= job.leader.status < 256
