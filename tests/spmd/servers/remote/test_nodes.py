"""Nodes of a Ray cluster: who listens, and who is let in."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import ClassVar

import pytest

from spmd.servers.remote import nodes
from spmd.servers.remote.errors import (
    AddressInUseError,
    ClusterError,
    TokenError,
    UnknownHostError,
)
from tests.ports import free_addresses, free_ports
from tests.spmd.servers.remote.token_files import token_file

pytest.importorskip("ray")


def test_addresses():
    assert nodes.split("host:12") == ("host", 12)
    assert nodes.numeric("localhost:12") == "127.0.0.1:12"
    assert nodes.numeric("127.0.1.1:12") == "127.0.0.1:12"
    with pytest.raises(
        ClusterError, match=r"'no-such-host.invalid' of the cluster cannot be found"
    ):
        nodes.resolved("no-such-host.invalid")


def test_an_unknown_host_is_to_be_mended_where_it_comes_from(capsys):
    address = "no-such-host.invalid:2222"
    with pytest.raises(
        UnknownHostError, match=r"invalid' of .* found: .*\. Check .* in --cluster\.$"
    ):
        nodes.serve("worker_0", address, address, "worker 0", "--cluster")


def test_a_host_may_become_known_later(monkeypatch):
    known = []

    def look_up(host):
        known.append(host)
        if len(known) < 3:
            raise OSError("not yet")
        return "192.0.2.2"

    monkeypatch.setattr(socket, "gethostbyname", look_up)
    monkeypatch.setattr(nodes, "_POLL_SECONDS", 0.0)
    nodes.wait_for_name("train-chief-0.train")
    assert len(known) == 3
    nodes.wait_for_name("unknown", seconds=0.0)  # whoever needs the address says that it is unknown
    assert len(known) == 3


@pytest.fixture
def node():
    """A node that runs, without Ray."""
    node = object.__new__(nodes.Node)
    node._done = None
    command = [sys.executable, "-c", "import signal; print('ready', flush=True); signal.pause()"]
    node._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield node
    node._process.kill()
    node._process.communicate()


def test_the_end_of_the_head_is_noticed_at_once(node):
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"localhost:{head.getsockname()[1]}"
        waiting = threading.Thread(target=node.wait, args=(address,))
        waiting.start()
        head.accept()[0].close()  # it may close a connection, but be there
        connection, _ = head.accept()
        connection.sendall(b"what a head says")
        assert waiting.is_alive()
    connection.close()
    waiting.join(60)
    assert not waiting.is_alive()
    assert node.is_running()
    node.wait(address)  # nor is one waited for that was gone before


def test_the_end_of_a_node_is_noticed(node):
    with socket.create_server(("127.0.0.1", 0)) as head:
        node._process.kill()
        node.wait(f"localhost:{head.getsockname()[1]}")
    node.wait()


def test_a_task_learns_that_its_program_is_done_and_then_that_it_has_left(monkeypatch):
    done = nodes._Done(lambda: False)
    monkeypatch.setenv("JAXTRIBUTE_TASK_DONE", done.path)
    code = "import sys; from spmd.servers.remote.nodes import tell_done; tell_done(); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as actor:
        assert actor.stdout is not None
        assert actor.stdout.readline()
        assert not done.has_left()
        assert done.is_done
        actor.communicate()
    assert done.has_left()
    done.close()
    nodes.tell_done()  # nobody listens any more


def test_a_server_that_serves_until_a_program_is_done_returns(monkeypatch):
    class Node:
        def __init__(self, name, host, head, port, done):
            self.done = done

        def wait(self, head):
            descriptor = os.open(self.done.path, os.O_WRONLY)
            os.write(descriptor, b"done")
            assert not self.done.has_left()
            os.close(descriptor)
            assert self.done.has_left()

        def close(self):
            pass

    monkeypatch.setattr(nodes, "Node", Node)
    (address,) = free_addresses(1)
    nodes.serve("ps_0", address, address, "ps 0", "TF_CONFIG", until=lambda: False)


def _ends_after(calls):
    """Tells from the second call on, or a later one, that no program will come."""
    asked = iter(range(calls))
    return lambda: next(asked, None) is None


@pytest.mark.parametrize("serves", [False, True])
def test_a_task_whose_head_is_gone_ends_when_no_program_will_come(monkeypatch, capsys, serves):
    """It may have been started again after the last one, or while that one ended."""
    listening = [serves]

    class Node:
        def __init__(self, *arguments):
            pass

        def wait(self, head):
            listening.clear()

        def close(self):
            pass

    monkeypatch.setattr(nodes, "Node", Node)
    monkeypatch.setattr(nodes, "_listens", lambda address: address == head and any(listening))
    monkeypatch.setattr(nodes, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(nodes, "_OVER_SECONDS", 0.0)
    address, head = free_addresses(2)
    nodes.serve("worker_1", address, head, "ps 0", "TF_CONFIG", until=_ends_after(10))
    assert capsys.readouterr().out.endswith("worker 1 ends: what it served for has ended.\n")


def test_a_head_ends_when_no_program_will_come_and_none_runs(monkeypatch, node):
    monkeypatch.setattr(nodes, "_OVER_SECONDS", 0.0)
    ended = []
    node._done = nodes._Done(lambda: bool(ended))
    assert not node._done.is_over()
    monkeypatch.setenv("JAXTRIBUTE_TASK_DONE", node._done.path)
    nodes.tell_of_program()  # as a process of the node does
    ended.append(True)
    assert not node._done.is_over()
    os.close(nodes._held(node._done.path))  # it ends
    nodes._held.cache_clear()
    node.wait()
    assert node._done.is_over()
    assert node.is_running()
    node._done.close()


def test_several_machines_need_a_token(monkeypatch, tmp_path):
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    with pytest.raises(TokenError, match="set RAY_AUTH_TOKEN_PATH"):
        nodes.environment("192.0.2.2")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token_file(tmp_path)))
    assert "RAY_AUTH_TOKEN_PATH" not in nodes.environment("192.0.2.2")


def test_one_machine_has_a_token_of_its_own(monkeypatch, tmp_path):
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = str(tmp_path / "jaxtribute" / "ray-token")
    assert nodes.environment("localhost")["RAY_AUTH_TOKEN_PATH"] == path


def test_a_token_is_checked_before_its_head_is_there(monkeypatch, tmp_path):
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    nodes.check_token("localhost:1")
    for head in ("192.0.2.2:1", "no-such-host.invalid:1"):
        with pytest.raises(TokenError, match="other machines, and no token"):
            nodes.check_token(head)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "short")
    with pytest.raises(TokenError, match="has 5 characters"):
        nodes.check_token("localhost:1")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "x" * 32)
    nodes.check_token("no-such-host.invalid:1")


def test_waiting_for_a_head():
    assert not nodes.wait_for(free_addresses(1)[0], seconds=0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert nodes.wait_for(f"localhost:{server.getsockname()[1]}", seconds=5)


def test_an_address_in_use_ends_a_server_with_a_sentence(monkeypatch):
    monkeypatch.setattr(nodes, "_IN_USE_SECONDS", 0.0)
    monkeypatch.setattr(nodes, "_end_when_asked", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"localhost:{taken.getsockname()[1]}"
        for head in (address, free_addresses(1)[0]):
            with pytest.raises(
                AddressInUseError, match=f"^{address} is in use, so worker 0 cannot"
            ):
                nodes.serve("worker_0", address, head, "worker 0", "--cluster")


def test_a_former_process_may_still_end():
    with socket.create_server(("127.0.0.1", 0)) as former:
        address = f"localhost:{former.getsockname()[1]}"
        waiting = threading.Thread(target=nodes.wait_until_free, args=("ps_0", address))
        waiting.start()
        former.accept()[0].close()
        assert waiting.is_alive()
    waiting.join(60)
    assert not waiting.is_alive()


def test_what_is_waited_for_is_named(monkeypatch, capsys):
    answers = iter([False, False, True])
    waits = []
    monkeypatch.setattr(
        nodes, "wait_for", lambda head, seconds, is_over: waits.append(seconds) or next(answers)
    )
    nodes.wait_for_head("localhost:1", "chief 0", "TF_CONFIG")
    line = "Waiting for chief 0 at localhost:1, where nothing listens yet. Is the task running, and the port right?\n"
    assert capsys.readouterr().out == line * 2
    assert waits[0] < waits[1]
    answers = iter([False, True])
    nodes.wait_for_head("no-such-host.invalid:1", "chief 0", "TF_CONFIG")
    assert re.fullmatch(
        r"Waiting for chief 0 at no-such-host.invalid:1, but its name is not known here yet: .*\. Check the addresses in "
        r"TF_CONFIG\.\n",
        capsys.readouterr().out,
    )


class _Ends:
    """A node that ends at once; the third one does not start."""

    made = 0

    def __init__(self, *arguments):
        type(self).made += 1
        if self.made > 2:
            raise TokenError("enough")

    def wait(self, head):
        pass

    def close(self):
        pass


@pytest.mark.parametrize(("own", "its_head"), [(True, "it is"), (False, "{} is")])
def test_a_server_says_once_that_it_serves(monkeypatch, capsys, own, its_head):
    monkeypatch.setattr(nodes, "Node", type("Ends", (_Ends,), {}))
    monkeypatch.setattr(nodes, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(nodes, "_end_when_asked", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address, head = free_addresses(1)[0], f"localhost:{other.getsockname()[1]}"
        head = address if own else head
        with pytest.raises(TokenError, match="enough"):
            nodes.serve("worker_1", address, head, "worker 0", "--cluster")
    expected = f"worker 1 at {address} serves; {its_head.format(head)} the head of the cluster.\n"
    assert capsys.readouterr().out == expected


def test_a_task_prints_that_a_program_has_connected(monkeypatch, tmp_path):
    (tmp_path / "1").write_text("worker 0 serves.\n")
    monkeypatch.setenv(nodes.OUTPUT, str(tmp_path))
    nodes.tell_of_program()
    assert (tmp_path / "1").read_text() == "worker 0 serves.\nA program has connected.\n"


@pytest.mark.parametrize(
    ("head_name", "next_one"), [("chief 0", "the next program"), ("ps 0", "it")]
)
def test_a_server_waits_for_the_next_program_without_alarm(
    monkeypatch, capsys, head_name, next_one
):
    head, end = free_addresses(1)[0], threading.Event()

    class Node:
        """A node whose head ends, and then is there again; the second one does not start."""

        made: ClassVar[list[str]] = []

        def __init__(self, name, *arguments):
            self.made.append(name)
            if len(self.made) > 1:
                raise TokenError("enough")

        def wait(self, head):
            listening.remove(head)

        def close(self):
            pass

    listening = [head]

    def wait_for(address, seconds=None, is_over=None):
        if seconds is None:
            end.set()  # it waits for good only here
        return address in listening or seconds is None

    monkeypatch.setattr(nodes, "Node", Node)
    monkeypatch.setattr(nodes, "wait_for", wait_for)
    monkeypatch.setattr(nodes, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(nodes, "_end_when_asked", lambda: None)
    address = free_addresses(1)[0]
    with pytest.raises(TokenError, match="enough"):
        nodes.serve("worker_1", address, head, head_name, "--cluster")
    assert end.is_set()
    assert capsys.readouterr().out == (
        f"worker 1 at {address} serves; {head} is the head of the cluster.\n"
        f"{head_name} has ended. Waiting for {next_one} at {head}.\n"
    )


_JOIN = """
import sys
from spmd.servers.remote import nodes
nodes.connect(sys.argv[1], "localhost")
print("in")
"""


@pytest.fixture(scope="module")
def head():
    (port,) = free_ports(1)
    node = nodes.Node("ps_0", "localhost", f"127.0.0.1:{port}", port)
    yield f"localhost:{port}", node
    node.close()


def _join(head: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _JOIN, head],
        env=os.environ | {"RAY_gcs_rpc_server_connect_timeout_s": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_only_the_loopback_interface_listens(head):
    _, node = head
    ours = [
        folder
        for folder in Path("/proc").glob("[0-9]*")
        if f"{nodes.OUTPUT}=/proc/{os.getpid()}/fd".encode() in _environment(folder)
    ]
    assert ours
    assert node.name == "ps_0"
    open_files = {
        match.group(1)
        for folder in ours
        for file in (folder / "fd").iterdir()
        if (match := re.match(r"socket:\[(\d+)\]", _target(file)))
    }
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in open_files:  # listens
                listening.append(fields[1].partition(":")[0])
    assert listening
    loopback = "0100007F"
    assert {address[-8:] for address in listening} == {loopback}


def _environment(folder: Path) -> list[bytes]:
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _target(file: Path) -> str:
    try:
        return os.readlink(file)
    except OSError:
        return ""


@pytest.mark.slow
def test_a_wrong_token_is_refused_and_garbage_harms_nobody(head, tmp_path):
    address, _ = head
    wrong = token_file(tmp_path)
    refused = _join(address, RAY_AUTH_TOKEN_PATH=str(wrong))
    assert refused.returncode != 0
    assert "set RAY_AUTH_TOKEN_PATH" in refused.stderr
    with socket.create_connection(nodes.split(address)) as stranger:
        stranger.sendall(os.urandom(1000))
    assert _join(address).stdout.endswith("in\n")


def test_a_refused_node_ends_at_the_first_refusal(head, tmp_path, monkeypatch):
    address, _ = head
    wrong = token_file(tmp_path)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(wrong))
    begin = time.monotonic()
    with pytest.raises(TokenError, match=f"which is that of the file {wrong}"):
        nodes.Node("client_1", "localhost", nodes.numeric(address))
    assert time.monotonic() - begin < 15  # Ray alone takes 20 s


def test_a_node_that_cannot_start_says_why(head):
    address, _ = head
    host, port = nodes.split(address)
    with pytest.raises(ClusterError, match="did not start"):
        nodes.Node("ps_1", host, f"127.0.0.1:{port}", port)


def test_a_killed_program_leaves_no_node():
    (port,) = free_ports(1)
    code = (
        "import os, signal; from spmd.servers.remote import nodes; "
        f"nodes.Node('ps_0', 'localhost', '127.0.0.1:{port}', {port}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    end = time.monotonic() + 10
    while nodes.wait_for(f"localhost:{port}", seconds=0.1) and time.monotonic() < end:
        time.sleep(0.1)
    assert not nodes.wait_for(f"localhost:{port}", seconds=0.1)


def test_a_dashboard_that_is_not_installed_is_an_error_that_says_so(monkeypatch):
    monkeypatch.setenv(nodes.DASHBOARD, "1")
    monkeypatch.setattr(nodes.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r'pip install "ray\[default\]"'):
        nodes.Node("chief_0", "localhost", "127.0.0.1:2222", 2222)
