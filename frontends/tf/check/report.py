"""What the command says about a file, and how it comes to that."""

import dataclasses
import warnings
from collections.abc import Mapping
from pathlib import Path

from frontends.tf.check import care, facts, python2, versions
from frontends.tf.check.findings import FAILING, Finding, Kind
from frontends.tf.check.fixes import Change, changes_in
from frontends.tf.check.sources import Source, UnreadableError, read
from frontends.tf.check.uses import Uses, uses_in


@dataclasses.dataclass(frozen=True)
class Report:
    """What there is to say about a file.

    Attributes:
        path: of the file.
        names: the names of TensorFlow that it uses, and how often.
        findings: by line.
        changes: the import statements to change.
        source: the file; None if it cannot be read.
        is_tensorflow: whether it imports TensorFlow, or this front end.
    """

    path: Path
    names: Mapping[str, int] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    source: Source | None = None
    is_tensorflow: bool = True

    @property
    def runs(self) -> bool:
        """Whether it was read, and finds every name."""
        return not any(one.kind in FAILING for one in self.findings)

    def names_with(self, kind: Kind) -> set[str]:
        """The names that have findings of one kind."""
        return {one.name for one in self.findings if one.kind == kind} & self.names.keys()

    def place(self, line: int) -> str:
        """Names a line, for people."""
        return str(line) if self.source is None else self.source.place(line)


def report_on(path: Path) -> Report:
    """Checks a script or a notebook; runs nothing of it.

    Args:
        path: of the file.
    """
    try:
        source = read(path)
    except (UnreadableError, OSError) as error:
        return Report(path, findings=(Finding(Kind.UNREADABLE, 1, "", str(error)),))
    if "tensorflow" not in source.text and "frontends" not in source.text:
        return Report(path, source=source, is_tensorflow=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes: the script's affair
            script = uses_in(source.text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line, text = 1, f"Python cannot read it: {error}"
        if isinstance(error, SyntaxError):
            line, text = python2.explain(source.text, error)
        return Report(path, findings=(Finding(Kind.UNREADABLE, line, "", text),), source=source)
    return _described(source, script)


def _described(source: Source, script: Uses) -> Report:
    names: dict[str, int] = {}
    findings: list[Finding] = []
    for each in script.imports:
        for one in each.names:
            if one is not None and one.problem:
                names[one.path] = names.get(one.path, 0) + 1
                line = each.statement.lineno
                findings.append(facts.missing(one.path, line, one.problem, each.guard))
    for use in script.uses:
        names[use.found.path] = names.get(use.found.path, 0) + 1
        findings += facts.findings_of(use)
    changes = changes_in(source.text, versions.imports_of(script))
    findings += (Finding(Kind.CHANGE, one.line, one.old, one.new) for one in changes)
    findings += care.findings_in(script)
    ordered = sorted(dict.fromkeys(findings), key=lambda one: one.line)
    is_tensorflow = bool(script.imports)
    return Report(
        source.path,
        dict(sorted(names.items())),
        tuple(ordered),
        tuple(changes),
        source,
        is_tensorflow,
    )
