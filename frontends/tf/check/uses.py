"""Where a script uses TensorFlow's names, read from its syntax tree.

A *use* is the longest dotted name that stands for a name of TensorFlow: `tf.keras.layers.Dense`, or `L.Dense` after
`from tensorflow.keras import layers as L`. Methods are followed from where an object is made: after
`strategy = tf.distribute.MirroredStrategy()`, `strategy.run` is a use of `tf.distribute.MirroredStrategy.run`.
Where a variable may be two things, or a parameter anything, nothing is said.
"""

import ast
import contextlib
import dataclasses
import functools
import warnings
from collections.abc import Generator, Iterable

from frontends.tf.check import names
from frontends.tf.check.imports import Imported, imported
from frontends.tf.check.names import Found

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_CAUGHT = "the script catches the error"
_ASKED = "the script asks before"
# What handlers of imports, and of other uses, catch.
_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_NAME_ERRORS = {"AttributeError", "Exception", "BaseException"}
_Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclasses.dataclass(frozen=True)
class Use:
    """A use of a name.

    Attributes:
        found: what the name stands for.
        line: where it begins, from 1.
        column: likewise, from 1.
        call: the call of it, if it is called.
        within: the functions around it, the outermost first.
        guard: why the script goes on if the name does not exist; empty if it does not.
    """

    found: Found
    line: int
    column: int
    call: ast.Call | None = None
    within: tuple[ast.AST, ...] = ()
    guard: str = ""


@dataclasses.dataclass(frozen=True)
class Import:
    """An import statement, some of whose names are TensorFlow's.

    Attributes:
        statement: the statement.
        names: what it binds, in its order; None for names of other modules.
        guard: why the script goes on if a name does not exist; empty if it does not.
    """

    statement: ast.Import | ast.ImportFrom
    names: tuple[Imported | None, ...]
    guard: str = ""


@dataclasses.dataclass(frozen=True)
class Version:
    """Which version of TensorFlow a script is for.

    Attributes:
        is_1: whether it is TensorFlow 1, so that its `tf` is `tf.compat.v1`.
        because: why that is thought; empty if nothing tells, and it is read as a script for TensorFlow 2.
        is_certain: whether the script itself tells.
    """

    is_1: bool = False
    because: str = ""
    is_certain: bool = False


EITHER = Version()


@dataclasses.dataclass(frozen=True)
class Uses:
    """What a script uses.

    Attributes:
        nodes: its syntax tree, from the top down.
        imports: statements that import TensorFlow, or this front end.
        uses: all uses, in the order of their lines.
        version: of TensorFlow, as which it was read.
    """

    nodes: tuple[ast.AST, ...]
    imports: tuple[Import, ...]
    uses: tuple[Use, ...]
    version: Version = EITHER


def uses_in(text: str, version: Version = EITHER) -> Uses:
    r"""Finds the uses in a script.

    Args:
        text: of the script.
        version: of TensorFlow that it is for.

    Raises:
        SyntaxError: it is no Python 3.

    Examples:
        >>> found = uses_in("import tensorflow as tf\nf = tf.cast\nf(1, tf.foo)")
        >>> [use.found.path for use in found.uses]
        ['tf.cast', 'tf.cast', 'tf.foo']
    """
    tree, nodes = parsed(text)
    stored = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    }
    reader = _Reader(frozenset(stored), version.is_1)
    reader.read(tree)
    ordered = sorted(reader.uses, key=lambda use: (use.line, use.column))
    return Uses(nodes, tuple(reader.imports), tuple(ordered), version)


@functools.lru_cache(maxsize=1)  # a script is read again as one of its version
def parsed(text: str) -> tuple[ast.Module, tuple[ast.AST, ...]]:
    """Returns the syntax tree of a script, and its nodes, from the top down.

    Raises:
        SyntaxError: it is no Python 3.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes: the script's affair
        tree = ast.parse(text)
    return tree, tuple(ast.walk(tree))


@dataclasses.dataclass
class _Scope:
    """The variables of a function, a class or the script, and what they may be; None for what is not known."""

    parent: "_Scope | None"
    is_class: bool = False
    bound: dict[str, list[Found | None]] = dataclasses.field(default_factory=dict)
    # All that they ever are: functions are called at one time or another.
    ever: dict[str, list[Found | None]] = dataclasses.field(default_factory=dict)


class _Reader:
    """Walks a script in the order of its lines; bodies of functions come after what is around them."""

    def __init__(self, stored: frozenset[str], is_of_1: bool) -> None:
        self._stored = stored  # attributes that the script sets on its objects
        self._is_of_1 = is_of_1
        self.imports: list[Import] = []
        self.uses: list[Use] = []
        self._scope = _Scope(None)
        self._deferred: list[tuple[_Function, _Scope, tuple[ast.AST, ...], str]] = []
        self._within: tuple[ast.AST, ...] = ()
        self._conditional = 0
        self._guard = ""

    def read(self, tree: ast.Module) -> None:
        self._statements(tree.body)
        while self._deferred:
            function, outer, self._within, self._guard = self._deferred.pop(0)
            self._body(function, outer)

    def _body(self, function: _Function, outer: _Scope) -> None:
        self._scope, self._conditional = _Scope(outer), 0
        self._within = (*self._within, function)
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self._bind(each.arg, self._annotated(each.annotation))
        for each in (arguments.vararg, arguments.kwarg):
            if each is not None:
                self._bind(each.arg, None)
        if isinstance(function, ast.Lambda):
            self._value(function.body)
        else:
            self._statements(function.body)

    def _annotated(self, annotation: ast.expr | None) -> Found | None:
        """Tells of which class a parameter is; its uses are counted where the function is defined."""
        if annotation is None:
            return None
        before = len(self.uses)
        found = self._value(annotation)
        del self.uses[before:]
        if found is None or found.kind != "class":
            return None
        return dataclasses.replace(found, kind="instance", may_be_subclass=True)

    # ------------------------------------------------------------------ statements
    def _statements(self, statements: Iterable[ast.stmt], catches_imports: bool = False) -> None:
        for statement in statements:
            is_import = isinstance(statement, (ast.Import, ast.ImportFrom))
            with self._guarded(_CAUGHT if is_import and catches_imports else ""):
                self._statement(statement)

    @contextlib.contextmanager
    def _guarded(self, guard: str) -> Generator[None]:
        outer, self._guard = self._guard, guard or self._guard
        yield
        self._guard = outer

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node)
            case ast.ClassDef():
                self._class(node)
            case ast.Assign():
                found = self._value(node.value)
                for target in node.targets:
                    self._assign(target, node.value, found)
            case ast.AnnAssign():
                self._value(node.annotation)
                found = None if node.value is None else self._value(node.value)
                self._assign(node.target, node.value, found)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    found = self._value(item.context_expr)
                    if item.optional_vars is not None:
                        is_made = found is not None and found.kind == "instance"
                        self._assign(item.optional_vars, None, found if is_made else None)
                self._statements(node.body)
            case ast.For() | ast.AsyncFor():
                self._value(node.iter)
                self._assign(node.target, None, None)
                self._branches(node.body, node.orelse)
            case ast.If() | ast.While():
                self._value(node.test)
                with self._guarded(_ASKED if _asks(node.test) else ""):
                    self._branches(node.body, node.orelse)
            case ast.Try() | ast.TryStar():
                with self._guarded(_CAUGHT if _catches(node.handlers, _NAME_ERRORS) else ""):
                    self._statements(node.body, _catches(node.handlers, _IMPORT_ERRORS))
                for handler in node.handlers:
                    if handler.type is not None:
                        self._value(handler.type)
                self._branches(*(handler.body for handler in node.handlers))
                self._branches(node.orelse)
                self._statements(node.finalbody)
            case ast.AugAssign():
                self._value(node.value)
                self._assign(node.target, None, None)
            case _:
                self._rest(node)

    def _branches(self, *bodies: list[ast.stmt]) -> None:
        self._conditional += 1
        for body in bodies:
            self._statements(body)
        self._conditional -= 1

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        found = imported(node, self._is_of_1)
        if any(found):
            self.imports.append(Import(node, tuple(found), self._guard))
        for alias, one in zip(node.names, found, strict=True):
            if one is None:
                self._bind((alias.asname or alias.name).split(".")[0], None)
            elif one.bound != "*":
                target = None if one.problem else names.find(one.path)
                self._bind(one.bound, target)
                is_name = target is not None and target.kind != "module"
                if target is not None and is_name and isinstance(node, ast.ImportFrom):
                    self._use(target, node)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for each in node.decorator_list:
            self._value(each)
        self._signature(node.args)
        if node.returns is not None:
            self._value(node.returns)
        self._bind(node.name, None)
        self._deferred.append((node, self._function_scope(), self._within, self._guard))

    def _signature(self, arguments: ast.arguments) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self._value(default)
        for each in ast.walk(arguments):
            if isinstance(each, ast.arg) and each.annotation is not None:
                self._value(each.annotation)

    def _function_scope(self) -> _Scope:
        """The scope around a function: methods do not see the names of their class."""
        scope = self._scope
        while scope.is_class and scope.parent is not None:
            scope = scope.parent
        return scope

    def _class(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases, *(word.value for word in node.keywords)):
            self._value(each)
        self._bind(node.name, None)
        outer, self._scope = self._scope, _Scope(self._scope, is_class=True)
        self._statements(node.body)
        self._scope = outer

    def _assign(self, target: ast.expr, value: ast.expr | None, found: Found | None) -> None:
        match target:
            case ast.Name():
                is_none = isinstance(value, ast.Constant) and value.value is None
                if not is_none:
                    self._bind(target.id, found)
            case ast.Tuple() | ast.List():
                values: list[ast.expr | None] = [None] * len(target.elts)
                if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(values):
                    values = [*value.elts]
                for one, element in zip(target.elts, values, strict=True):
                    is_name = isinstance(element, (ast.Name, ast.Attribute))
                    self._assign(one, element, self._peek(element) if is_name else None)
            case ast.Starred():
                self._assign(target.value, None, None)
            case _:
                self._value(target)

    def _peek(self, node: ast.expr | None) -> Found | None:
        before = len(self.uses)
        found = None if node is None else self._value(node)
        del self.uses[before:]
        return found

    # ------------------------------------------------------------------ variables
    def _bind(self, name: str, found: Found | None) -> None:
        known = self._scope.bound.get(name)
        if self._conditional and known is not None:
            known.append(found)
        else:
            self._scope.bound[name] = [found]
        self._scope.ever.setdefault(name, []).append(found)

    def _look_up(self, name: str) -> Found | None:
        scope: _Scope | None = self._scope
        while scope is not None:
            if name in scope.bound:
                return _agreed((scope.bound if scope is self._scope else scope.ever)[name])
            scope = scope.parent
        return None

    # ------------------------------------------------------------------ expressions
    def _value(
        self, node: ast.AST, call: ast.Call | None = None, is_whole: bool = True
    ) -> Found | None:
        """Reads an expression, notes the uses in it, and tells what it stands for, if that is a name of TensorFlow."""
        found: Found | None = None
        match node:
            case ast.Name():
                found = self._look_up(node.id) if isinstance(node.ctx, ast.Load) else None
            case ast.Attribute():
                owner = self._value(node.value, is_whole=False)
                if owner is not None and isinstance(node.ctx, ast.Load):
                    found = names.member(owner, node.attr)
                    is_own = found.is_missing and owner.kind in ("class", "instance")
                    if is_own and node.attr in self._stored:
                        found = None
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                self._signature(node.args)
                self._deferred.append((node, self._function_scope(), self._within, self._guard))
                return None
            case ast.IfExp():
                self._value(node.test)
                with self._guarded(_ASKED if _asks(node.test) else ""):
                    self._value(node.body)
                    self._value(node.orelse)
                return None
            case ast.NamedExpr():
                found = self._value(node.value)
                self._assign(node.target, node.value, found)
                return found
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
                return None
            case _:
                self._rest(node)
                return None
        is_use = found is not None and found.kind not in ("module", "instance")
        if found is not None and is_whole and is_use:
            self._use(found, node, call)
        return found

    def _call(self, node: ast.Call) -> Found | None:
        named = self._named_attribute(node)
        function = self._value(node.func, call=node)
        for each in (*node.args, *(word.value for word in node.keywords)):
            self._value(each)
        if named is not None:
            self._use(named, node)
            return named
        return None if function is None else names.made(function)

    def _named_attribute(self, node: ast.Call) -> Found | None:
        """Reads `getattr(tf, "name")`; one with a default needs no name."""
        match node:
            case ast.Call(ast.Name("getattr"), [owner, ast.Constant(str(name))], []):
                found = self._peek(owner)
                return None if found is None else names.member(found, name)
        return None

    def _comprehension(self, node: ast.AST) -> None:
        assert isinstance(node, _Comprehension)
        outer, self._scope = self._scope, _Scope(self._scope)
        for each in node.generators:
            self._value(each.iter)
            self._assign(each.target, None, None)
            for condition in each.ifs:
                self._value(condition)
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for each in results:
            self._value(each)
        self._scope = outer

    def _rest(self, node: ast.AST) -> None:
        """Reads what has no rule of its own, part by part."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self._statement(child)
            elif isinstance(child, ast.match_case):
                self._pattern(child)
            else:
                self._value(child)

    def _pattern(self, case: ast.match_case) -> None:
        for node in ast.walk(case.pattern):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(name, str):
                self._bind(name, None)
            if isinstance(node, (ast.MatchValue, ast.MatchClass)):
                self._value(node.value if isinstance(node, ast.MatchValue) else node.cls)
        if case.guard is not None:
            self._value(case.guard)
        self._branches(case.body)

    def _use(self, found: Found, node: ast.expr | ast.stmt, call: ast.Call | None = None) -> None:
        place = node.lineno, node.col_offset + 1
        self.uses.append(Use(found, *place, call, self._within, self._guard))


def _asks(test: ast.expr) -> bool:
    """Tells whether a condition asks which TensorFlow there is, or what it has."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ("__version__", "VERSION"))
        or (isinstance(node, ast.Name) and node.id == "hasattr")
        for node in ast.walk(test)
    )


def _catches(handlers: Iterable[ast.ExceptHandler], errors: set[str]) -> bool:
    caught = [one.type for one in handlers]
    listed = [
        one for each in caught for one in (each.elts if isinstance(each, ast.Tuple) else [each])
    ]
    return any(one is None or ast.unparse(one) in errors for one in listed)


def _agreed(found: list[Found | None]) -> Found | None:
    """Chooses among what a variable may be: what exists, if that can be said of all."""
    if any(one is None for one in found):
        modules = [one for one in found if one is not None and one.kind == "module"]
        return modules[-1] if modules else None
    known = [one for one in found if one is not None and not one.is_missing]
    kinds = {one.kind for one in known}
    if kinds == {"module"}:
        # Of `tf.compat.v1` and `tf`, the first has the names of both.
        return max(known, key=lambda one: one.path == "tf.compat.v1")
    return known[0] if len({one.path for one in known}) == 1 else None if known else found[0]
