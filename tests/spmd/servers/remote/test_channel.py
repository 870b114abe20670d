"""Channels between processes of one machine."""

import os
import pickle
import resource
import tempfile
import threading
from pathlib import Path

import pytest

pytest.importorskip("ray")

from spmd.servers.remote import channel as channels
from spmd.servers.remote.channel import Channel, FailedCallError, serve
from spmd.servers.remote.messages import pack, parts_of, unpack

_WAITS, _PROCEED = "waits", threading.Event()


def _repeated(message: memoryview):
    """Repeats a word as often as a message says."""
    word, times = unpack(message)
    if word == _WAITS:
        _PROCEED.wait(10)
    return parts_of(word * times)


@pytest.fixture
def opened():
    """Opens a channel to an answering function in this process, and returns it and what invited."""
    served, invitations = [], []

    def invite(path: str, mark: bytes) -> bool:
        invitations.append((path, oct(Path(path).parent.stat().st_mode)[-3:]))
        served.append(serve(path, mark, _repeated, pickle.dumps))
        return True

    channel = Channel.open(invite)
    assert channel is not None
    yield channel, served[0], invitations
    channel.close()


def _ask(channel: Channel, word: object, times: int, check=lambda: None):
    message = pack((word, times))
    assert channel.fits(len(message))
    return unpack(channel.call([message], len(message), 0.05, check))


def test_answers_come_and_the_socket_has_no_name(opened):
    channel, _, [(path, mode)] = opened
    assert [_ask(channel, "ab", times) for times in (1, 3, 0)] == ["ab", "ababab", ""]
    assert mode == "700"
    assert not Path(path).parent.exists()


def test_an_answer_that_has_no_room_comes_too(opened, monkeypatch):
    monkeypatch.setattr(channels, "_LEAST_SHARED", 1 << 8)
    channel, _, _ = opened
    files = len(os.listdir("/proc/self/fd"))
    for times in (10, 1000, 10, 5000, 100_000):
        assert _ask(channel, "ab", times) == "ab" * times
    assert _ask(channel, "ab" * 100_000, 1) == "ab" * 100_000
    assert len(os.listdir("/proc/self/fd")) <= files + 4  # of the memory, at both ends


def test_a_message_over_the_limit_does_not_fit(opened):
    channel, _, _ = opened
    assert not channel.fits((1 << 26) + 1)
    assert channel.fits(1)


def test_errors_of_the_server_come_as_its_pickles(opened):
    channel, _, _ = opened
    with pytest.raises(FailedCallError) as caught:
        _ask(channel, "ab", "times")
    assert isinstance(pickle.loads(caught.value.dumped), TypeError)  # noqa: S301 -- our own
    assert _ask(channel, "ab", 2) == "abab"


def test_a_check_ends_a_call_that_waits(opened):
    channel, _, _ = opened

    def check():
        raise TimeoutError("enough")

    with pytest.raises(TimeoutError, match="enough"):
        _ask(channel, _WAITS, 1, check)
    _PROCEED.set()


def test_a_closed_channel_answers_no_more(opened):
    channel, served, _ = opened
    assert _ask(channel, "ab", 1) == "ab"
    served.close()
    with pytest.raises(ConnectionError):
        _ask(channel, "ab", 1)


def test_a_process_that_is_not_on_this_machine_is_not_reached(tmp_path):
    assert serve(str(tmp_path / "channel"), b"mark", _repeated, pickle.dumps) is None
    assert Channel.open(lambda path, mark: False) is None


def test_another_process_than_the_invited_one_is_not_answered():
    def invite(path: str, mark: bytes) -> bool:
        return serve(path, bytes(len(mark)), _repeated, pickle.dumps) is not None

    assert Channel.open(invite) is None


def test_without_a_folder_for_its_socket_there_is_no_channel(monkeypatch):
    def fail(**options):
        raise FileNotFoundError

    monkeypatch.setattr(tempfile, "TemporaryDirectory", fail)
    assert Channel.open(lambda path, mark: True) is None


def test_a_message_whose_memory_does_not_arrive_is_not_taken_for_the_former_one(opened):
    channel, _, _ = opened
    assert _ask(channel, "ab", 1) == "ab"
    large = "cd" * (1 << 20)
    assert channel.fits(len(pack((large, 1))))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (1, limits[1])
    )  # of the server, which is this process
    try:
        with pytest.raises(FailedCallError) as caught:
            _ask(channel, large, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert "too many open files" in str(pickle.loads(caught.value.dumped))  # noqa: S301 -- our own
    assert _ask(channel, large, 1) == large
