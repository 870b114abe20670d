"""The secret of a job."""

import stat
from pathlib import Path

import pytest

from spmd.launch.token import make_token, token_file


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
