"""The secret of a job."""

import stat
from pathlib import Path

import pytest

from spmd.errors import LaunchError
from spmd.launch.token import make_token, token_file, token_to_render


def test_only_this_user_can_read_it_and_only_while_the_job_runs() -> None:
    with token_file({}) as variables:
        path = Path(variables["RAY_AUTH_TOKEN_PATH"])
        assert len(path.read_text()) >= 32
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.parent.exists()


def test_each_job_has_its_own() -> None:
    assert make_token() != make_token()


@pytest.mark.parametrize("name", ["RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"])
def test_one_that_the_user_gives_is_taken(name: str) -> None:
    with token_file({name: "given"}) as variables:
        assert variables == {}


def test_the_token_of_a_manifest_is_this_users_or_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("mine\n")
    assert token_to_render({"RAY_AUTH_TOKEN_PATH": str(path)}, {}) == "mine"
    assert len(token_to_render({}, {})) == 64
    assert token_to_render({}, {"RAY_AUTH_TOKEN_PATH": "/run/token"}) == ""


def test_a_file_without_a_token_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with pytest.raises(LaunchError, match="No such file"):
        token_to_render({"RAY_AUTH_TOKEN_PATH": str(path)}, {})
    path.touch()
    with pytest.raises(LaunchError, match="it is empty"):
        token_to_render({"RAY_AUTH_TOKEN_PATH": str(path)}, {})
