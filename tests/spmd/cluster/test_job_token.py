"""The secret of a job."""

import pytest

from spmd.cluster.job_token import is_proof, prove, read_token
from spmd.errors import ClusterStartError


def test_it_is_read_from_the_environment_or_a_file(tmp_path):
    path = tmp_path / "token"
    path.write_text("from the file\n")
    assert read_token({"RAY_AUTH_TOKEN_PATH": str(path)}) == b"from the file"
    both = {"RAY_AUTH_TOKEN": "itself", "RAY_AUTH_TOKEN_PATH": str(path)}
    assert read_token(both) == b"itself"
    assert read_token({"RAY_AUTH_TOKEN": "", "RAY_AUTH_TOKEN_PATH": ""}) == b""


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff"])
def test_a_file_without_a_token(tmp_path, content):
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ClusterStartError, match=f"RAY_AUTH_TOKEN_PATH names, {path}, but"):
        read_token({"RAY_AUTH_TOKEN_PATH": str(path)})


@pytest.mark.parametrize("proof", [None, 3, "", "é", "\ud800", ["x"], {}])
def test_what_is_no_proof(proof):
    assert not is_proof(proof, b"secret", "guest", "a", "b")
    right = prove(b"secret", "guest", "a", "b")
    assert is_proof(right, b"secret", "guest", "a", "b")
    assert not is_proof(right, b"secret", "guest", "a", proof)
    assert not is_proof(right, b"secret", "host", "a", "b")
    assert not is_proof(right, b"Secret", "guest", "a", "b")


def test_what_is_too_deep_to_prove_is_no_proof():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert not is_proof("a", b"secret", "guest", deep)
    assert not is_proof(deep, b"secret", "guest", "a")
