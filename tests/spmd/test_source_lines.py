"""Whose code is it: files and modules of the user's, of libraries, and of packages that name themselves."""

import importlib.util
import json
import os
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import spmd
from spmd import source_lines
from spmd.errors import MeshError

MeshOf = Callable[[int], Mesh]
ROOT = Path(spmd.__file__).parents[1]


def imported(monkeypatch: pytest.MonkeyPatch, path: Path, code: str) -> types.ModuleType:
    """Imports a file under its own name, in place of a module that has the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code)
    name = path.parent.name if path.stem == "__init__" else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("path", "user"),
    [
        (__file__, True),
        ("/home/me/train.py", True),
        ("train.py", True),
        (str(ROOT / "spmd_experiments" / "train.py"), True),
        (spmd.__file__, False),
        (source_lines.__file__, False),
        (jax.__file__, False),
        (np.__file__, False),
        (os.__file__, False),
        ("<string>", False),
        ("<frozen importlib._bootstrap>", False),
    ],
)
def test_a_file_is_the_user_s_or_not(path: str, user: bool) -> None:
    assert source_lines.is_user_file(path) is user


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("jax.numpy", True),
        ("flax.nnx", True),
        ("spmd.step.step", True),
        ("os.path", True),
        ("builtins", True),  # has no file
        ("turtledemo", True),  # is not imported: the name is all there is
        ("jaxtra", False),
        ("train", False),
        ("__main__", False),
        ("", False),
        (None, False),
    ],
)
def test_a_module_is_a_library_or_not(module: str | None, library: bool) -> None:
    assert source_lines.is_library(module) is library


@pytest.mark.parametrize("name", ["statistics", "code", "queue"])
def test_a_module_of_the_user_s_may_be_named_like_one_of_python_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mesh_of: MeshOf, name: str
) -> None:
    importlib.import_module(name)
    assert source_lines.is_library(name)
    module = imported(
        monkeypatch,
        tmp_path / f"{name}.py",
        "import jax.numpy as jnp, spmd\n"
        "count = spmd.Variable(jnp.zeros(()))\n"
        "def add():\n"
        "    count.value += 1\n",
    )
    assert not source_lines.is_library(name)
    step = spmd.Step(module.add, mesh_of(1))
    step()
    step()
    assert float(module.count.value) == 2.0


def test_a_package_in_a_checkout_is_the_user_s_until_it_names_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As an editable install leaves it: on the path, outside of the folders of installed packages.
    package = imported(monkeypatch, tmp_path / "my_layers" / "__init__.py", "")
    inside = str(tmp_path / "my_layers" / "dense.py")
    assert source_lines.is_user_file(inside)
    assert not source_lines.is_library("my_layers.dense")
    monkeypatch.setattr(source_lines, "_libraries", set(source_lines._libraries))
    monkeypatch.setattr(source_lines, "_own", list(source_lines._own))
    source_lines.add_library(package)
    assert not source_lines.is_user_file(inside)
    assert source_lines.is_library("my_layers.dense")
    assert source_lines.is_user_file(str(tmp_path / "my_layers_test.py"))


def test_a_warning_points_at_the_user_s_line(mesh_of: MeshOf) -> None:
    step = spmd.Step(lambda x: x, mesh_of(1), options=spmd.StepOptions(warn_after=2))
    step(np.ones(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        step(np.ones(2))
    assert [warning.filename for warning in caught] == [__file__]


def _wrong_product(x):
    return x @ jnp.ones((5, 3))


def _functions(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def _caught(call: Callable[[], object]) -> BaseException:
    try:
        call()
    except (Exception, KeyboardInterrupt) as error:
        return error
    raise AssertionError("no error")


def test_a_steps_error_shows_the_users_functions_only(mesh_of: MeshOf) -> None:
    def train(x):
        return _wrong_product(x)

    step = spmd.Step(train, mesh_of(2))
    assert _functions(_caught(lambda: step(jnp.ones((4, 4)))))[1:] == [
        "<lambda>",
        "train",
        "_wrong_product",
    ]


def test_all_frames_can_be_shown(mesh_of: MeshOf) -> None:
    step = spmd.Step(_wrong_product, mesh_of(2))
    jax.config.update("jax_traceback_filtering", "off")
    try:
        error = _caught(lambda: step(jnp.ones((4, 4))))
    finally:
        jax.config.update("jax_traceback_filtering", "auto")
    assert len(_functions(error)) > 15


def _with_cause(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("raised", "last"),
    [
        (KeyError("fault"), "broken"),
        (MeshError("stated"), "call"),
        (KeyboardInterrupt(), "call"),
        (_with_cause(KeyError("a worker's"), MeshError("its traceback")), "call"),
    ],
)
def test_a_fault_of_this_package_names_its_line(raised: BaseException, last: str) -> None:
    own: dict[str, Any] = {"__name__": "spmd.fake"}
    exec("def broken(error): raise error", own)

    def call() -> None:
        own["broken"](raised)

    error = _caught(call)
    source_lines.shorten_traceback(error)
    assert _functions(error)[-1] == last


def test_tracebacks_of_causes_are_shortened_too() -> None:
    def chained() -> None:
        try:
            jnp.dot(jnp.ones(2), jnp.ones(3))
        except TypeError as error:
            raise ValueError("outer") from error

    error = _caught(chained)
    source_lines.shorten_traceback(error)
    assert error.__cause__ is not None
    assert _functions(error.__cause__) == ["chained"]


def test_errors_that_end_a_program_are_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[BaseException] = []
    monkeypatch.setattr(source_lines, "_shortening", [])
    monkeypatch.setattr(sys, "excepthook", lambda *arguments: shown.append(arguments[1]))
    source_lines.shorten_uncaught()
    hook = sys.excepthook
    source_lines.shorten_uncaught()
    assert sys.excepthook is hook

    def call() -> None:
        json.loads("")

    error = _caught(call)
    hook(type(error), error, error.__traceback__)
    assert shown == [error]
    assert _functions(error)[-1] == "call"
