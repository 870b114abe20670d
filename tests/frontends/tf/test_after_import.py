"""What is done once another package is imported."""

import importlib
import sys

import pytest

from frontends.tf._after_import import after_import


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that has not been imported yet."""
    (tmp_path / "late_package.py").write_text("value = [1]\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield "late_package"
    sys.modules.pop("late_package", None)


def test_functions_are_called_before_and_after_the_import(package):
    order = []
    after_import(
        package,
        lambda module: order.append(module.value),
        lambda: order.append(hasattr(sys.modules[package], "value")),
    )
    assert order == []
    importlib.import_module(package)
    assert order == [False, [1]]
    importlib.import_module(package)
    assert len(order) == 2


def test_once_for_each_package(package):
    order = []
    for _ in range(2):
        after_import(package, order.append)
    importlib.import_module(package)
    assert len(order) == 1


def test_at_once_if_it_is_imported(package):
    module, order = importlib.import_module(package), []
    after_import(package, order.append)
    assert order == [module]


def test_a_package_that_does_not_exist(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    after_import("no_such_package", print)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_package")
