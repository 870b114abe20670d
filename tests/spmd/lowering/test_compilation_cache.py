"""The compilation cache: written by one process, read by the next; and where it lies."""

import json
import logging
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

import spmd

ROOT = Path(spmd.__file__).parents[1]
OPTIONS = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
)
# Operations that XLA cannot merge: what compiles in no time is not worth a file.
PROGRAM = """
import json, sys
from collections import Counter

import jax, jax.numpy as jnp, numpy as np
import spmd

spmd.simulate_devices(2)
events = Counter()
jax.monitoring.register_event_listener(lambda event, **_: events.update([event]))
directory = spmd.lowering.enable_compilation_cache(sys.argv[1])


def train(x):
    for size in range(5):
        x = jnp.sort(jnp.sin(x @ x.T)[:, : 3 + size % 5], axis=0)
        x = jnp.concatenate([x, x], axis=1)
    return spmd.all_reduce(x.sum())


batch = next(iter(spmd.distribute(np.eye(16, 6, dtype=np.float32), spmd.make_mesh(), batch_size=16)))
loss = float(spmd.Step(train)(batch))
names = ("cache_hits", "cache_misses")
print(json.dumps([directory, loss, *(events[f"/jax/compilation_cache/{name}"] for name in names)]))
"""


@pytest.fixture
def settings() -> Iterator[None]:
    before = {name: getattr(jax.config, name) for name in OPTIONS}
    yield
    for name, value in before.items():
        jax.config.update(name, value)


def run(code: str, environment: dict[str, str], *arguments: str) -> str:
    ours = ("XLA_FLAGS", "NPROC", "XDG_CACHE_HOME")
    inherited = {
        k: v for k, v in os.environ.items() if k not in ours and "COMPILATION_CACHE" not in k
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**inherited, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_program(directory: Path) -> list[Any]:
    return json.loads(run(PROGRAM, {}, str(directory)))


def steps_in(directory: Path) -> dict[str, tuple[int, bytes]]:
    # Only the step's: whether a smaller program is worth a file depends on the machine's load.
    files = directory.glob("jit_train-*-cache")
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_the_next_process_reads_what_the_first_wrote(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b"
    named, first, hits, misses = run_program(directory)
    assert named == str(directory)
    assert (hits, misses > 0) == (0, True)
    written = steps_in(directory)
    assert len(written) == 1
    _, second, hits, _ = run_program(directory)
    assert hits >= 1
    assert steps_in(directory) == written
    assert second == first


@pytest.mark.usefixtures("settings")
def test_the_directory_is_made_and_set(tmp_path: Path) -> None:
    assert spmd.lowering.enable_compilation_cache(tmp_path / "x" / "y") == str(tmp_path / "x" / "y")
    assert (tmp_path / "x" / "y").is_dir()
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "x" / "y")  # type: ignore[attr-defined]
    spmd.lowering.enable_compilation_cache(tmp_path / "x" / "y")  # once more does no harm


@pytest.mark.usefixtures("settings")
def test_a_log_at_info_has_nothing_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "jax._src.compilation_cache"):
        spmd.lowering.enable_compilation_cache(tmp_path)
        assert not caplog.records
        logging.getLogger("jax._src.compilation_cache").info("JAX's own go on")
    assert len(caplog.records) == 1


@pytest.mark.usefixtures("settings")
def test_the_default_directory_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    named = Path(spmd.lowering.enable_compilation_cache())
    assert named.parent == tmp_path / "xdg" / "jaxtribute"
    assert named.name.startswith(platform.machine())  # and which kind of it
    for empty in ("", None):
        if empty is None:
            monkeypatch.delenv("XDG_CACHE_HOME")
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", empty)
        cache = tmp_path / "home" / ".cache" / "jaxtribute"
        assert Path(spmd.lowering.enable_compilation_cache()) == cache / named.name
        assert (cache / named.name).is_dir()


STEP = """
import jax, jax.numpy as jnp, spmd
jnp.sin(1.0)  # JAX decides about the cache at the first program
spmd.Step(lambda: spmd.all_reduce(jnp.ones(3)), spmd.make_mesh())()
print(jax.config.jax_compilation_cache_dir)
"""


def test_it_is_on_by_default(tmp_path: Path) -> None:
    directory = Path(run(STEP, {"HOME": str(tmp_path)}).rstrip())
    assert directory.parent == tmp_path / ".cache" / "jaxtribute"
    assert list(directory.glob("jit_*-cache"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "directory"),
    [
        ("JAX_COMPILATION_CACHE_DIR={home}/elsewhere", "{home}/elsewhere"),
        ("JAX_ENABLE_COMPILATION_CACHE=0", "None"),
    ],
)
def test_settings_of_jax_are_left_alone(tmp_path: Path, setting: str, directory: str) -> None:
    name, value = setting.format(home=tmp_path).split("=")
    used = run(STEP, {"HOME": str(tmp_path), name: value}).rstrip()
    assert used == directory.format(home=tmp_path)
    assert not list(tmp_path.rglob("*-cache"))


def test_the_programs_unused_for_longest_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: None
) -> None:
    monkeypatch.setattr("spmd.lowering.compilation_cache._MAX_PROGRAMS", 4)
    for age in range(6):
        path = tmp_path / f"jit_{age}-cache"
        path.write_bytes(b"program")
        os.utime(path, (1e9 - age, 1e9 - age))
    (tmp_path / "notes").write_text("somebody else's")
    spmd.lowering.enable_compilation_cache(tmp_path)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"jit_0-cache", "jit_1-cache", "jit_2-cache", "notes"}


def test_too_many_bytes_count_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: None
) -> None:
    monkeypatch.setattr("spmd.lowering.compilation_cache._MAX_BYTES", 100)
    for age in range(3):
        (tmp_path / f"jit_{age}-cache").write_bytes(bytes(40))
        os.utime(tmp_path / f"jit_{age}-cache", (1e9 - age, 1e9 - age))
    spmd.lowering.enable_compilation_cache(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["jit_0-cache"]


@pytest.mark.usefixtures("settings")
def test_a_threshold_that_somebody_set_stays(tmp_path: Path) -> None:
    name = "jax_persistent_cache_min_compile_time_secs"
    for before, after in ((5.0, 5.0), (1.0, 0.01)):
        jax.config.update(name, before)
        spmd.lowering.enable_compilation_cache(tmp_path)
        assert getattr(jax.config, name) == after


@pytest.mark.usefixtures("settings")
def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(OSError, match="no absolute path"):
        spmd.lowering.enable_compilation_cache()


def test_a_home_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    code = "import spmd\nprint(spmd.make_mesh().size)"
    assert run(code, {"HOME": str(tmp_path / "home")}) == "1\n"


@pytest.mark.usefixtures("settings")
def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    before = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    for directory in (file, file / "below"):
        with pytest.raises(OSError, match="file"):
            spmd.lowering.enable_compilation_cache(directory)
    assert jax.config.jax_compilation_cache_dir == before  # type: ignore[attr-defined]
