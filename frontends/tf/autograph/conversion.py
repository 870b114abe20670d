"""Rewriting functions with `diastatic-malt`, which is TensorFlow's AutoGraph as a package of its own.

malt turns `if`, `while`, `for`, `and`, calls and so on into calls of *operators*; these are ours (`operators`). The
new code keeps the file and the line numbers of the user's, so that tracebacks, warnings and the lines that errors
name are the user's own.
"""

import __future__

import ast
import functools
import importlib
import logging
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import malt
from malt.core import converter
from malt.impl import api
from malt.pyct import anno, transpiler

from frontends.tf.autograph.rewriting import (
    AnnotationTransformer,
    AppendTransformer,
    AssertTransformer,
    ConditionalTransformer,
)
from frontends.tf.autograph.status import mark
from spmd.source_lines import add_library

add_library(malt)

_OPTIONS = converter.ConversionOptions(
    recursive=True,
    user_requested=False,
    optional_features=(),  # type: ignore[arg-type] # malt takes a tuple
)
# Names of the functions that malt makes of the parts of a user's function.
_PARTS = ("if_body", "else_body", "loop_body", "loop_test", "extra_test", "get_state", "set_state")
_LOCALS = ".<locals>."
# In place of a column: it is not known, so tracebacks underline nothing.
_NO_COLUMN = -1


class _Transpiler(api.PyToPy):
    """malt's, with our operators."""

    def get_extra_locals(self) -> dict[str, Any]:
        first = self._extra_locals is None
        found: Any = super().get_extra_locals()
        if first:
            ours = importlib.import_module("frontends.tf.autograph.operators")
            vars(found["ag__"]).update(ours.OPERATORS)
        return found

    def transform_ast(self, node: Any, ctx: Any) -> Any:
        if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
            raise NotImplementedError("malt does not follow what `:=` assigns")
        for first in (AnnotationTransformer(), AppendTransformer(), AssertTransformer()):
            node = first.visit(node)
        node = super().transform_ast(node, ctx)
        return ConditionalTransformer().visit(node)

    def rewritten(self, function: types.FunctionType) -> tuple[ast.AST, str]:
        """Rewrites a function.

        Returns:
            The new definition, and the name that it defines.
        """
        context = converter.ProgramContext(options=_OPTIONS)
        # Not PyToPy's own, which loads the code from a temporary file.
        rewrite = transpiler.GenericTranspiler.transform_function
        node, made = rewrite(self, function, context)
        name: str = made.info.name
        if isinstance(node, ast.Lambda):
            return ast.Assign([ast.Name(name, ast.Store())], node), name
        node.name = name
        return node, name


_TRANSPILER = _Transpiler()
_LOCK = threading.RLock()
# By code: the function that makes the new one, with cells for what the old one closes over.
_FACTORIES: "weakref.WeakKeyDictionary[types.CodeType, types.CodeType | None]" = (
    weakref.WeakKeyDictionary()
)


def convert(function: types.FunctionType) -> Callable[..., Any] | None:
    """Makes the converted form of a function, with its globals, closure and defaults.

    Args:
        function: a user's.

    Returns:
        The new function; None if the source cannot be had, or uses what cannot be converted.
    """
    with _LOCK:
        if function.__code__ not in _FACTORIES:
            _FACTORIES[function.__code__] = _factory(function)
        code = _FACTORIES[function.__code__]
    if code is None:
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    factory = types.FunctionType(code, function.__globals__, closure=closure)
    new = factory(**_TRANSPILER.get_extra_locals())
    new.__defaults__ = function.__defaults__
    new.__kwdefaults__ = function.__kwdefaults__
    new.__name__, new.__qualname__ = function.__name__, function.__qualname__
    new.__module__ = function.__module__
    return mark(new)


def to_code(function: types.FunctionType) -> str:
    """Returns the converted source of a function."""
    node, _ = _TRANSPILER.rewritten(function)
    return ast.unparse(ast.fix_missing_locations(node))


def _factory(function: types.FunctionType) -> types.CodeType | None:
    try:
        node, name = _TRANSPILER.rewritten(function)
        return _compiled(node, name, function)
    except Exception as error:
        # As in TensorFlow, it runs as it is; what it cannot do then says so.
        logging.getLogger(__name__).info(
            "AutoGraph could not transform %s and will run it as it is: %s", function, error
        )
        return None


def _compiled(node: ast.AST, name: str, function: types.FunctionType) -> types.CodeType:
    """Compiles a definition inside of a function that closes over what the old one did."""
    original = function.__code__
    # Names as malt's own: a name of the user's, such as `inner`, must not be found here.
    outer = ast.parse("def ag__outer():\n  def ag__inner(ag__):\n    pass\n  return ag__inner")
    outer_def: Any = outer.body[0]
    inner_def = outer_def.body[0]
    inner_def.body = [node, ast.Return(ast.Name(name, ast.Load()))]
    cells = [
        ast.Assign([ast.Name(free, ast.Store())], ast.Constant(None))
        for free in original.co_freevars
    ]
    outer_def.body = [*cells, *outer_def.body]
    ast.fix_missing_locations(outer)
    _locate(outer, original.co_firstlineno)
    namespace: dict[str, Any] = {}
    module = compile(
        outer, original.co_filename, "exec", dont_inherit=True, flags=_future(original)
    )
    exec(module, namespace)
    return _renamed(namespace["ag__outer"]().__code__, name, function)


def _future(code: types.CodeType) -> int:
    known = (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    return functools.reduce(int.__or__, (flag & code.co_flags for flag in known), 0)


def _locate(node: Any, line: int) -> None:
    """Gives nodes the lines of the user's code that they came from, others that of what is around them."""
    origin: Any = anno.getanno(node, anno.Basic.ORIGIN, default=None)
    if origin is not None:
        line = origin.loc.lineno
    if hasattr(node, "lineno"):
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = _NO_COLUMN
    for child in ast.iter_child_nodes(node):
        _locate(child, line)


def _renamed(code: types.CodeType, name: str, function: types.FunctionType) -> types.CodeType:
    """Gives the parts of a function its name, which tracebacks show, and functions in it their own."""
    place = [
        function.__qualname__ if part == name else part
        for part in code.co_qualname.split(_LOCALS)[2:]
        if part.rstrip("_0123456789") not in _PARTS
    ]
    qualified = _LOCALS.join(place) or function.__qualname__
    is_part = code.co_name == name or code.co_name.rstrip("_0123456789") in _PARTS
    own = qualified.rpartition(".")[2] if is_part else code.co_name
    constants = (
        _renamed(each, name, function) if isinstance(each, types.CodeType) else each
        for each in code.co_consts
    )
    return code.replace(co_name=own, co_qualname=qualified, co_consts=tuple(constants))
