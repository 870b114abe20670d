"""Why a file is no Python 3: most that are not are Python 2."""

import re

# What Python 2 took and Python 3 does not, by a name for it.
_SIGNS = (
    ("a print statement", re.compile(r"^\s*print\s+[^\s(=.,\[+\-*/]|^\s*print\s*$|^\s*print\s*>>")),
    ("except with a comma", re.compile(r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:")),
    ("raise with a comma", re.compile(r"^\s*raise\s+[\w.]+\s*,")),
    ("an exec statement", re.compile(r"^\s*exec\s+[^\s(=.]")),
    ("the operator <>", re.compile(r"<>")),
    ("a text ur''", re.compile(r"\bur['\"]")),
    ("an octal number 0777", re.compile(r"(?<![\w.])0\d+\b(?![.\w])")),
    ("a number 1L", re.compile(r"(?<![\w.])\d+[lL]\b")),
)


def explain(text: str, error: SyntaxError) -> tuple[int, str]:
    r"""Says why a file cannot be parsed.

    Args:
        text: of the file.
        error: that parsing it raised.

    Returns:
        The line, and what is wrong.

    Examples:
        >>> def why(text):
        ...     try:
        ...         compile(text, "a.py", "exec")
        ...     except SyntaxError as error:
        ...         return explain(text, error)
        >>> why("x = 1\nprint 'a'\n")
        (2, 'Python 2: a print statement. Make Python 3 of it first: 2to3 -w FILE, or futurize')
        >>> why("def f(:\n")
        (1, 'not Python 3: invalid syntax')
    """
    line = error.lineno or 1
    lines = text.splitlines()
    found = next(
        (name for name, sign in _SIGNS if line <= len(lines) and sign.search(lines[line - 1])), None
    )
    if found is None and isinstance(error, TabError):
        found = "tabs and spaces in one block"
    if found is None:
        return line, f"not Python 3: {error.msg}"
    return line, f"Python 2: {found}. Make Python 3 of it first: 2to3 -w FILE, or futurize"
