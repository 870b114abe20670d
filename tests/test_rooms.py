"""The rooms of `spmd`: imports point downward and go through faces, and nobody reads what is private elsewhere."""

import ast

import pytest

from tests import rooms


@pytest.fixture(scope="module")
def tree() -> dict[str, rooms.Module]:
    return rooms.read_tree()


def with_code(tree: dict[str, rooms.Module], name: str, code: str) -> dict[str, rooms.Module]:
    """The tree with one module more, or with more code in one."""
    old = tree.get(name)
    body = [*(old.tree.body if old else []), *ast.parse(code).body]
    return {**tree, name: rooms.Module(name, bool(old and old.is_package), ast.Module(body, []))}


def test_rooms_import_downward(tree) -> None:
    assert [str(found) for found in rooms.upward_imports(tree)] == []


def test_rooms_are_entered_by_their_face(tree) -> None:
    assert [str(found) for found in rooms.deep_imports(tree)] == []


def test_private_attributes_are_read_at_home(tree) -> None:
    assert rooms.private_reads(tree) == []


def test_no_circles(tree) -> None:
    assert rooms.circles(tree) == []


def test_few_rooms_and_arrows(tree) -> None:
    assert {rooms.room_of(name) for name in tree} - {"spmd"} == set(rooms.FLOORS)
    assert len(rooms.FLOORS) - 1 <= 23
    assert len(rooms.arrows(tree)) <= 97


@pytest.mark.parametrize(
    ("check", "module", "code"),
    [
        (rooms.upward_imports, "spmd.topology.mesh", "def f():\n    from spmd.step import Step"),
        (rooms.upward_imports, "spmd.state.table", "import spmd"),
        (rooms.deep_imports, "spmd.step.step", "from spmd.state.table import StateTable"),
        (rooms.deep_imports, "spmd.step.step", "from spmd.state import table"),
        (rooms.deep_imports, "spmd.step.step", "import spmd.state.table"),
        (rooms.deep_imports, "frontends.tf.variable", "from spmd.input.prefetch import Prefetcher"),
        (rooms.deep_imports, "frontends.tf.variable", "from spmd.state import _helper"),
        (rooms.private_reads, "frontends.tf.variable", "step._shortcut"),
        (rooms.private_reads, "frontends.tf.variable", "getattr(step, '_shortcut', None)"),
        (rooms.circles, "spmd.state.kinds", "def f():\n    from spmd.state.table import Slot"),
    ],
)
def test_what_breaks_the_rules_is_found(tree, check, module: str, code: str) -> None:
    before = list(map(str, check(tree)))
    after = list(map(str, check(with_code(tree, module, code))))
    assert len(after) > len(before)


def test_a_module_is_measured() -> None:
    source = """'''Two
lines.'''

import typing  # one


def f(self, a, b: Any, *, c: int, **d: Any) -> None:
    '''One.'''
    return (a,
            b)
"""
    assert rooms.size_of(source) == rooms.Size(1, code=4, docstrings=3, parameters=4, bare=2)


@pytest.mark.slow
def test_sizes_add_up() -> None:
    found = rooms.sizes()
    total = found.pop("all")
    assert total.files == sum(size.files for size in found.values())
    assert total.code == sum(size.code for size in found.values()) > 10_000
    assert total.bare < 0.12 * total.parameters
