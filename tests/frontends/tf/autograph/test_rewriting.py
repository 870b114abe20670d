"""Which statements and conditional expressions are rewritten."""

import ast

import pytest

from frontends.tf.autograph.rewriting import (
    AnnotationTransformer,
    AppendTransformer,
    AssertTransformer,
    ConditionalTransformer,
)


@pytest.mark.parametrize(
    ("body", "rewritten"),
    [
        ("x = []\n    x.append(1)", True),
        ("x: list = [1]\n    x.append(1)", True),
        ("x = other()\n    x.append(1)", False),
        ("global x\n    x = []\n    x.append(1)", False),
        ("nonlocal x\n    x = []\n    x.append(1)", False),
        ("def g():\n        x = []\n    x.append(1)", False),
        ("x = []\n    y = x.append(1)", False),
        ("x = []\n    x.append(*a)", True),
    ],
)
def test_only_lists_of_the_function_itself(body, rewritten) -> None:
    tree = AnnotationTransformer().visit(ast.parse(f"def f():\n    {body}"))
    tree = AppendTransformer().visit(tree)
    assert ("list_append" in ast.unparse(tree)) is rewritten


def test_conditional_expressions_in_others() -> None:
    tree = ConditionalTransformer().visit(
        ast.parse("x = (a if b else c) if (d if e else f) else g")
    )
    text = ast.unparse(ast.fix_missing_locations(tree))
    assert text.count("ag__.if_exp(") == 3
    assert " if " not in text.replace("'d if e else f'", "")


def test_annotated_assignments() -> None:
    tree = AnnotationTransformer().visit(ast.parse("x: int = 1\ny: int\nz.a: list[int] = []"))
    assert ast.unparse(tree) == "x = 1\npass\nz.a = []"


def test_assertions() -> None:
    tree = AssertTransformer().visit(ast.parse("assert x > 0, f'{x}'\nassert y"))
    assert ast.unparse(tree).splitlines() == [
        "ag__.assert_stmt(x > 0, lambda: f'{x}', 'x > 0')",
        "ag__.assert_stmt(y, lambda: None, 'y')",
    ]
