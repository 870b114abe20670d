"""What malt leaves as it is, or does not take: statements and expressions that are rewritten before and after it."""

import ast
from typing import Any


class AppendTransformer(ast.NodeTransformer):
    """Rewrites `name.append(value)` into `name = ag__.list_append(name, value)`, for lists that a function makes."""

    def __init__(self) -> None:
        self._lists: list[set[str]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Looks for lists of this function."""
        outside = {
            name
            for each in ast.walk(node)
            if isinstance(each, (ast.Global, ast.Nonlocal))
            for name in each.names
        }
        made = {
            target.id
            for each in _own_statements(node)
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.List)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        self._lists.append(made - outside)
        self.generic_visit(node)
        self._lists.pop()
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Rewrites a statement that is such a call."""
        call: Any = node.value
        if not (
            self._lists
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "append"
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id in self._lists[-1]
            and len(call.args) == 1
            and not call.keywords
        ):
            return node
        name = call.func.value.id
        operator = ast.Attribute(ast.Name("ag__", ast.Load()), "list_append", ast.Load())
        new = ast.Assign(
            [ast.Name(name, ast.Store())],
            ast.Call(operator, [ast.Name(name, ast.Load()), call.args[0]], []),
        )
        for each in ast.walk(new):
            if not hasattr(each, "lineno"):
                ast.copy_location(each, node)
        return new


class AnnotationTransformer(ast.NodeTransformer):
    """Rewrites `name: type = value` into `name = value`; malt does not see what an annotated assignment changes."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Rewrites a statement."""
        new = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return ast.copy_location(new, node)


class AssertTransformer(ast.NodeTransformer):
    """Rewrites `assert test, message` into `ag__.assert_stmt(test, lambda: message, "test")`; malt takes texts only."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Rewrites a statement."""
        operator = ast.Attribute(ast.Name("ag__", ast.Load()), "assert_stmt", ast.Load())
        nothing = ast.arguments([], [], None, [], [], None, [])
        message = ast.Lambda(nothing, node.msg or ast.Constant(None))
        text = ast.Constant(ast.unparse(node.test))
        new = ast.Expr(ast.Call(operator, [node.test, message, text], []))
        return ast.fix_missing_locations(ast.copy_location(new, node))


class ConditionalTransformer(ast.NodeTransformer):
    """Rewrites the conditional expressions that are left into calls of `ag__.if_exp`."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Rewrites an expression, after those in it."""
        condition = ast.unparse(ast.fix_missing_locations(node.test))
        self.generic_visit(node)
        operator = ast.Attribute(ast.Name("ag__", ast.Load()), "if_exp", ast.Load())
        nothing = ast.arguments([], [], None, [], [], None, [])
        sides = [ast.Lambda(nothing, side) for side in (node.body, node.orelse)]
        return ast.copy_location(
            ast.Call(operator, [node.test, *sides, ast.Constant(condition)], []), node
        )


def _own_statements(function: ast.FunctionDef) -> list[ast.AST]:
    """Lists the nodes of a function, without those of functions in it."""
    found: list[ast.AST] = []
    ahead: list[ast.AST] = list(function.body)
    while ahead:
        node = ahead.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            ahead += ast.iter_child_nodes(node)
    return found
