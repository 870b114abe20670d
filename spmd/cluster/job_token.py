"""The secret of a job: its tasks prove to each other that they have it, and never send it.

Who asks sends a text that nobody has seen before, a *challenge*. The *proof* is the HMAC-SHA256 of it, so that one that
somebody has listened to is of no use a second time.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from spmd.errors import ClusterStartError

# Ray's names, since the tasks that it connects prove the same secret.
TOKEN_VARIABLE = "RAY_AUTH_TOKEN"
TOKEN_PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"
_ADVICE = "Give every task the same file, or unset the variable in all of them."


def read_token(environment: Mapping[str, str], advice: str = _ADVICE) -> bytes:
    """Reads the token that the environment names; empty if it names none.

    Args:
        environment: environment variables.
        advice: what to do about a file without a token, for the error.

    Raises:
        ClusterStartError: its file cannot be read, or is empty.

    Examples:
        >>> read_token({"RAY_AUTH_TOKEN": "secret"}), read_token({})
        (b'secret', b'')
    """
    if token := environment.get(TOKEN_VARIABLE):
        return token.encode()
    path = environment.get(TOKEN_PATH_VARIABLE)
    if not path:
        return b""
    try:
        token = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        token, reason = "", str(error)
    else:
        reason = "it is empty"
    if not token:
        raise ClusterStartError(
            f"Expected a token in the file that {TOKEN_PATH_VARIABLE} names, {path}, but {reason}. {advice}"
        )
    return token.encode()


def make_challenge() -> str:
    """Makes a text that nobody has seen before.

    Examples:
        >>> make_challenge() == make_challenge()
        False
    """
    return secrets.token_hex(16)


def prove(token: bytes, *said: object) -> str:
    """Proves that this process has a token.

    Args:
        token: the secret.
        said: who proves it, the challenges of both sides, and what else is to be believed; JSON can hold it.

    Examples:
        >>> is_proof(prove(b"secret", "guest", "a", "b"), b"secret", "guest", "a", "b")
        True
    """
    return hmac.new(token, json.dumps(said).encode(), hashlib.sha256).hexdigest()


def is_proof(proof: object, token: bytes, *said: object) -> bool:
    """Tells whether somebody has proven to have a token; takes equally long for all wrong proofs."""
    if not isinstance(proof, str):
        return False
    try:
        right = prove(token, *said)
    except RecursionError:  # brackets within brackets, from a stranger
        return False
    return hmac.compare_digest(proof.encode("utf-8", "replace"), right.encode())
