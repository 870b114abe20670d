"""Random command lines of `jaxtribute launch` that print something."""

import contextlib
import io
import random
import shlex
import subprocess
from pathlib import Path

import yaml

from spmd import cli
from tests.benchmarks.fuzz.files import watched
from tests.benchmarks.fuzz.mutations import mutated_bytes

_MANIFESTS = ("slurm", "kubernetes", "tfjob", "jobset", "raycluster")
_VALUES = (
    *("", "0", "1", "2", "-1", "nan", "inf", "1e999", "99999999999999999999", "0x10", "\u0661"),
    *("9" * 5000, "1_0", " 1", "a", "a,b", "a,,b", "a b", "::1", "[::1]", "[::1]:5", "a:2222,a"),
    *(
        "2:4",
        "4:2",
        "0:0",
        ";id",
        "$(id)",
        "`id`",
        "a\nb",
        "a\rb",
        "a\0b",
        "\ud800",
        "é",
        "\x1b[2J",
    ),
    *("..", "/", "/dev/null", "/dev/zero", "/proc/self/mem", "A=1", "A=$(id)", "A", "=", "=x"),
    *("a:/b", "a:b:c", "a=b", "x" * 5000, "'", '"', "- a", "{", "&a", "!!python/name:os.system"),
    *("google.com/tpu", "registry/train:1", "tpu:8", "tpu:v5e-8", *_MANIFESTS),
)
_OPTIONS = (
    *("--workers", "--ps", "--devices-per-worker", "--simulate", "--env", "--max-restarts"),
    *("--backoff-seconds", "--grace-seconds", "--regrow-seconds", "--evaluator-seconds"),
    *("--rendezvous", "--settle-seconds", "--join-seconds", "--max-interruptions", "--hosts"),
    *("--render", "--name", "--port", "--deadline-seconds", "--health-port", "--image"),
    *("--resource", "--volume", "--node-selector", "--user", "--queue"),
)
# Values that are often right.
_PLAIN = ("1", "2", "3", "8", "600", "8080", "2:4", "a", "a,b,c", "A=1", "A", "a:/b", "a=b")
_FLAGS = ("--chief", "--evaluator", "--token")


class CommandLines:
    """Command lines that print a manifest or a script, or are refused by a message: none starts anything."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def attempt(self, chance: random.Random) -> str:
        """Runs one; returns what became of it."""
        words = (
            ["--hosts", "a"]
            if chance.random() < 0.3
            else ["--render", chance.choice(_MANIFESTS), "--image", "registry/train:1"]
        )
        for option in chance.sample(_OPTIONS, chance.randrange(5)):
            value = chance.choice(_VALUES if chance.random() < 0.4 else _PLAIN)
            if chance.random() < 0.1:
                value = mutated_bytes(value.encode("utf-8", "ignore"), chance).decode(
                    "utf-8", "surrogateescape"
                )
            words += [option, value]
        words += [flag for flag in _FLAGS if chance.random() < 0.2]
        words += ["train.py", chance.choice(_VALUES)]
        output, error = io.StringIO(), io.StringIO()
        with (
            watched() as touched,
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(error),
        ):
            try:
                status = cli.main(["launch", *words])
            except SystemExit as ended:
                status = ended.code
        shown = shlex.join(words)[:2000]
        assert status in (0, 2), f"status {status} of {shown}"
        paths = touched.outside(self._folder, reads=False)
        assert not paths, f"{shown} touched {paths}"
        if status == 2:
            assert error.getvalue(), f"{shown} says nothing"
            assert "Traceback" not in error.getvalue(), shown
            return "refused"
        _check(output.getvalue(), shown)
        return "accepted"

    def close(self) -> None:
        """Does nothing."""


def _check(text: str, shown: str) -> None:
    """Fails unless a text is YAML, or a script that a shell can read."""
    if "apiVersion" in text and text.startswith("#") and "#SBATCH" not in text:
        documents = list(yaml.safe_load_all(text))
        assert documents, shown
        assert all(isinstance(document, dict) for document in documents), shown
        return
    script = text.encode("utf-8", "surrogateescape")
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, timeout=60)
    assert done.returncode == 0, (shown, done.stderr)
