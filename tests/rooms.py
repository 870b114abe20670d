"""The rooms of `spmd`, and who imports whom: what tests/test_rooms.py holds the tree to.

    python -m tests.rooms           # each room, its floor, and the rooms that it imports
    python -m tests.rooms --modules # the same, module by module
    python -m tests.rooms --sizes   # files, lines and parameters typed Any, room by room

A *room* is a package or a single module directly below `spmd`; each front end is one room above them all. A
room's *face* is its package: other rooms import `spmd.input`, never `spmd.input.prefetch`. Packages inside a
room (`spmd.cluster.environments`) have faces of their own. Imports inside functions count.
"""

import argparse
import ast
import dataclasses
import functools
import io
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# From the ground up: a room imports only rooms that stand before it.
FLOORS = (
    "errors",
    "typing",
    "files",
    "source_lines",
    "assigned",
    "_jax_internals",
    "cluster",
    "lowering",
    "topology",
    "replica",
    "state",
    "recording",
    "proof",
    "input",
    "step",
    "checkpoint",
    "servers",
    "plan",
    "launch",
    "integrations",
    "verification",
    "export",
    "cli",
    "frontends",
)
# Attributes of other libraries' objects, by the modules that say in their first lines that they touch internals;
# ours may have the same names.
FOREIGN = {
    "spmd.integrations.keras.adapter": {"_value"},
    "spmd.integrations.keras.metrics": {"_value"},
    "spmd.integrations.keras.names": {"_value"},
    "spmd.integrations.keras.variables": {"_value"},
    "spmd.integrations.keras.server_rules": {"_learning_rate", "_use_weight_decay"},
    "spmd.checkpoint.saving": {"_exit"},  # os._exit
    "spmd.lowering._compiler_main": {"_exit"},
    "spmd.plan.worker": {"_exit"},
    "spmd.servers.remote._node_main": {"_exit"},
}
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
# Each module directly below it is a face: Keras and Flax are imported only when they are used.
OPEN_ROOMS = frozenset({"spmd.integrations"})


@dataclasses.dataclass(frozen=True)
class Module:
    """A Python file.

    Attributes:
        name: its full name.
        is_package: whether it is an `__init__.py`.
        tree: its syntax.
    """

    name: str
    is_package: bool
    tree: ast.Module

    # Walked once: a test asks again and again.
    @functools.cached_property
    def import_statements(self) -> list[ast.Import | ast.ImportFrom]:
        return [n for n in ast.walk(self.tree) if isinstance(n, (ast.Import, ast.ImportFrom))]

    @functools.cached_property
    def exports(self) -> set[str]:
        """Names that a face takes from its modules; one may be called like its module."""
        return {
            alias.asname or alias.name
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    @functools.cached_property
    def private_definitions(self) -> set[str]:
        return set(_private_definitions(self.tree))

    @functools.cached_property
    def private_uses(self) -> list[tuple[str, int]]:
        return list(_private_uses(self.tree))


@dataclasses.dataclass(frozen=True)
class Import:
    """One name that a module imports.

    Attributes:
        importer: the module that imports.
        module: the module that is imported, or that the name is taken from.
        name: what is taken from it; None if the module itself is imported.
        line: in the importer.
    """

    importer: str
    module: str
    name: str | None
    line: int

    def __str__(self) -> str:
        what = self.module if self.name is None else f"{self.module}.{self.name}"
        return f"{self.importer} (line {self.line}) imports {what}"


def read_tree(root: Path = ROOT) -> dict[str, Module]:
    """Reads all modules of both packages, by name."""
    found: dict[str, Module] = {}
    for package in ("spmd", "frontends"):
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            found[name] = Module(name, is_package, ast.parse(path.read_text()))
    return found


def room_of(module: str) -> str:
    """Names the room that a module is in: `spmd.input.prefetch` is in `input`."""
    top, *rest = module.split(".")
    return "frontends" if top == "frontends" else rest[0] if rest else "spmd"


def is_face(module: str, tree: Mapping[str, Module]) -> bool:
    """Tells whether other rooms may import a module."""
    parent = module.rpartition(".")[0]
    return tree[module].is_package or parent == "spmd" or parent in OPEN_ROOMS


def imports_of(module: Module, tree: Mapping[str, Module]) -> Iterator[Import]:
    """Lists what a module imports of both packages, wherever the import stands."""
    for node in module.import_statements:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in tree:
                    yield Import(module.name, alias.name, None, node.lineno)
        elif node.module in tree:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in tree and alias.name not in tree[node.module].exports:
                    yield Import(module.name, full, None, node.lineno)
                else:
                    yield Import(module.name, node.module, alias.name, node.lineno)


def all_imports(tree: Mapping[str, Module]) -> list[Import]:
    """Lists the imports of all modules."""
    return [found for module in tree.values() for found in imports_of(module, tree)]


def arrows(tree: Mapping[str, Module]) -> set[tuple[str, str]]:
    """Lists which rooms of `spmd` import which others; `import spmd` itself is no arrow."""
    pairs = {(room_of(i.importer), room_of(i.module)) for i in all_imports(tree)}
    return {(a, b) for a, b in pairs if a != b and "spmd" not in (a, b) and a != "frontends"}


def upward_imports(tree: Mapping[str, Module]) -> list[Import]:
    """Lists imports of a room on the same floor or a higher one."""
    floor = {room: number for number, room in enumerate(FLOORS)}
    return [
        found
        for found in all_imports(tree)
        if (a := room_of(found.importer)) != (b := room_of(found.module))
        and a not in ("spmd", "frontends")
        and (b == "spmd" or floor[b] > floor[a])
    ]


def deep_imports(tree: Mapping[str, Module]) -> list[Import]:
    """Lists imports past a face: of a module inside another room, or of a private name."""
    return [
        found
        for found in all_imports(tree)
        if _seam(found.importer) != _seam(found.module)
        and (
            not is_face(found.module, tree)
            or (found.name is not None and found.name.startswith("_"))
        )
    ]


def circles(tree: Mapping[str, Module]) -> list[list[str]]:
    """Lists groups of modules that import each other, in a circle. A package's face is no part of one."""
    graph = {
        name: {i.module for i in imports_of(module, tree) if not tree[i.module].is_package}
        for name, module in tree.items()
    }
    return [sorted(group) for group in _strong_components(graph) if len(group) > 1]


def private_reads(tree: Mapping[str, Module]) -> list[str]:
    """Lists reads of an attribute with an underscore that is defined in another room, and not in this one."""
    defined: dict[str, set[str]] = {}
    for module in tree.values():
        defined.setdefault(_seam(module.name), set()).update(module.private_definitions)
    return [
        f"{module.name} (line {line}) reads .{name}, which is private to {', '.join(owners)}"
        for module in tree.values()
        for name, line in module.private_uses
        if name not in defined[_seam(module.name)] | FOREIGN.get(module.name, set())
        and (owners := sorted(seam for seam, names in defined.items() if name in names))
    ]


def _seam(module: str) -> str:
    """The room that a module is in, where those of an open room count one by one."""
    parts = module.split(".")
    if ".".join(parts[:2]) in OPEN_ROOMS:
        return ".".join(parts[:3])
    return ".".join(parts[:2]) if parts[0] == "spmd" else parts[0]


def _private_definitions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            # What is set on another object than self is somebody else's.
            names = (
                [node.attr]
                if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                else []
            )
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names = [node.id]
        else:
            continue
        yield from (name for name in names if _is_private(name))


def _private_uses(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.attr, node.lineno
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "setattr", "hasattr")
            and len(node.args) > 1
            and isinstance(node.args[1], ast.Constant)
            and isinstance(node.args[1].value, str)
            and _is_private(node.args[1].value)
        ):
            yield node.args[1].value, node.lineno


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def _strong_components(graph: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Tarjan's algorithm, without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    work.append((successor, iter(sorted(graph[successor]))))
                    break
                if successor in stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = set(stack[stack.index(node) :])
                    del stack[stack.index(node) :]
                    yield group


@dataclasses.dataclass
class Size:
    """How large a room is, and how well typed.

    Attributes:
        files: number of modules.
        code: lines of code, without docstrings, comments and empty lines.
        docstrings: lines of docstrings.
        parameters: of all functions, without `self` and `cls`.
        bare: those of them that are typed as nothing more than `Any`.
    """

    files: int = 0
    code: int = 0
    docstrings: int = 0
    parameters: int = 0
    bare: int = 0

    def __str__(self) -> str:
        share = self.bare / self.parameters if self.parameters else 0.0
        return (
            f"{self.files:5} {self.code:6} {self.docstrings:10} {self.parameters:10} {share:6.1%}"
        )

    def add(self, other: "Size") -> None:
        """Adds another one to it."""
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def size_of(source: str) -> Size:
    """Measures a module."""
    size, docstrings, code = Size(files=1), set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            every += filter(None, [arguments.vararg, arguments.kwarg])
            typed = [a.annotation for a in every if a.arg not in ("self", "cls")]
            size.parameters += len(typed)
            size.bare += sum(isinstance(a, ast.Name) and a.id == "Any" for a in typed)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and ast.get_docstring(node, clean=False) is not None:
                docstrings.update(range(first.lineno, (first.end_lineno or 0) + 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    size.code, size.docstrings = len(code - docstrings), len(docstrings)
    return size


def sizes(root: Path = ROOT) -> dict[str, Size]:
    """Measures each room, and everything together under `all`."""
    found = {room: Size() for room in ("spmd", *FLOORS)}
    for package in ("spmd", "frontends"):
        for path in (root / package).rglob("*.py"):
            module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(
                ".__init__"
            )
            found[room_of(module)].add(size_of(path.read_text()))
    total = Size()
    for one in found.values():
        total.add(one)
    return found | {"all": total}


def _main() -> None:
    parser = argparse.ArgumentParser(description="Who imports whom.")
    parser.add_argument("--modules", action="store_true", help="module by module")
    parser.add_argument("--sizes", action="store_true", help="lines, and parameters typed Any")
    options = parser.parse_args()
    if options.sizes:
        print(f"{'':16}{'files':>5} {'code':>6} {'docstrings':>10} {'parameters':>10} {'Any':>6}")
        for room, size in sizes().items():
            print(f"{room:16}{size}")
        return
    tree = read_tree()
    if options.modules:
        for module in tree.values():
            targets = sorted({found.module for found in imports_of(module, tree)})
            print(f"{module.name}: {', '.join(targets) or '-'}")
    pairs = arrows(tree)
    rooms = [room for room in FLOORS if room != "frontends"]
    for number, room in enumerate(rooms):
        below = [other for other in rooms if (room, other) in pairs]
        print(f"{number:2}  spmd.{room:15} {', '.join(below) or '-'}")
    print(f"{len(rooms)} rooms, {len(pairs)} arrows between them")
    for title, found in (
        ("upward", upward_imports(tree)),
        ("past a face", deep_imports(tree)),
        ("circles", circles(tree)),
        ("private attributes", private_reads(tree)),
    ):
        print(f"{title}: {len(found)}")
        for one in found:
            print(f"    {one}")


if __name__ == "__main__":
    _main()
