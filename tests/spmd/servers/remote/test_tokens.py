"""Tokens: those that are too easy to guess or to read are refused."""

import os
import stat
from pathlib import Path

import pytest

from spmd.servers.remote import tokens
from spmd.servers.remote.errors import TokenError
from tests.spmd.servers.remote.token_files import token_file

pytest.importorskip("ray")


@pytest.fixture(autouse=True)
def none_given(monkeypatch):
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)


def test_a_token_in_a_file(monkeypatch, tmp_path):
    assert not tokens.is_given()
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token_file(tmp_path)))
    assert tokens.is_given()


def test_a_file_that_cannot_be_read(monkeypatch, tmp_path):
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    with pytest.raises(
        TokenError, match=r"cannot be read: .*No such file.* set RAY_AUTH_TOKEN_PATH"
    ):
        tokens.is_given()


@pytest.mark.parametrize(
    ("token", "found"), [("\n", "is empty"), ("x" * 31 + "\n", "has 31 characters")]
)
def test_a_short_token_in_a_file(monkeypatch, tmp_path, token, found):
    path = token_file(tmp_path, token)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    with pytest.raises(TokenError, match=rf"{path}, .* {found}: expected 32 .* openssl rand"):
        tokens.is_given()


def test_a_short_token_in_the_environment(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "x" * 32)
    assert tokens.is_given()
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    with pytest.raises(TokenError, match="token in RAY_AUTH_TOKEN has 6 characters: expected 32"):
        tokens.is_given()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_have_access_to(monkeypatch, tmp_path, mode):
    path = token_file(tmp_path)
    path.chmod(mode)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    with pytest.raises(TokenError, match=rf"has the mode {mode:04o}, .*: chmod 600 {path}$"):
        tokens.is_given()


def test_the_modes_of_a_mounted_secret_are_its_pods(monkeypatch, tmp_path):
    path = token_file(tmp_path)
    path.chmod(0o444)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    flags = os.statvfs_result((0,) * 8 + (os.ST_RDONLY, 255))
    monkeypatch.setattr(os, "statvfs", lambda path: flags)
    assert tokens.is_given()


def test_the_token_of_one_machine_is_its_users(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path: Path = tokens.own_token()
    token = path.read_text()
    assert len(token) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert tokens.own_token() == path
    assert path.read_text() == token
    path.chmod(0o640)
    with pytest.raises(TokenError, match="has the mode 0640"):
        tokens.own_token()
