"""What the command says about a file, and how it comes to that."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from frontends.tf.check import care, facts, python2
from frontends.tf.check.findings import FAILING, Finding, Kind
from frontends.tf.check.fixes import Change, changes_in
from frontends.tf.check.imports import Module, modules_in
from frontends.tf.check.sources import Source, UnreadableError, read
from frontends.tf.check.uses import EITHER, Uses, Version
from frontends.tf.check.versions import uses_in_its_version


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
        version: of TensorFlow that it is for.
        modules: what it imports; None if that was not looked for.
    """

    path: Path
    names: Mapping[str, int] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    source: Source | None = None
    is_tensorflow: bool = True
    version: Version = EITHER
    modules: tuple[Module, ...] | None = None

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


def report_on(path: Path, because: str = "") -> Report:
    """Checks a script or a notebook; runs nothing of it.

    Args:
        path: of the file.
        because: why it is for TensorFlow 1 if it does not tell itself: what other modules of its project use.
    """
    try:
        source = read(path)
    except (UnreadableError, OSError) as error:
        return Report(path, findings=(Finding(Kind.UNREADABLE, 1, "", str(error)),))
    if "tensorflow" not in source.text and "frontends" not in source.text:
        return Report(path, source=source, is_tensorflow=False)
    try:
        script = uses_in_its_version(source.text, because)
    except (SyntaxError, ValueError, RecursionError) as error:
        line, text = 1, f"Python cannot read it: {error}"
        if isinstance(error, SyntaxError):
            line, text = python2.explain(source.text, error)
        return Report(path, findings=(Finding(Kind.UNREADABLE, line, "", text),), source=source)
    return _described(source, script)


def _described(source: Source, script: Uses) -> Report:
    paths: list[str] = []
    findings: list[Finding] = []
    for each in script.imports:
        for one in each.names:
            if one is not None and one.problem:
                paths.append(one.path)
                line = each.statement.lineno
                findings.append(facts.missing(one.path, line, one.problem, each.guard))
    for use in script.uses:
        paths.append(use.found.path)
        findings += facts.findings_of(use)
    findings += care.findings_in(script)
    if script.version.is_1:
        paths = [_as_written(path) for path in paths]
        findings = [
            dataclasses.replace(one, name=_as_written(one.name), text=_as_written(one.text))
            for one in findings
        ]
    changes = changes_in(source.text, script)
    findings += (Finding(Kind.CHANGE, one.line, one.old, one.new) for one in changes)
    ordered = sorted(dict.fromkeys(findings), key=lambda one: one.line)
    is_tensorflow = bool(script.imports)
    return Report(
        source.path,
        dict(sorted(Counter(paths).items())),
        tuple(ordered),
        tuple(changes),
        source,
        is_tensorflow,
        script.version,
        tuple(modules_in(script.nodes)),
    )


def _as_written(text: str) -> str:
    """Writes a name of `tf.compat.v1`, or a text with some, as a script does whose `tf` that is."""
    return text.replace("tf.compat.v1.", "tf.")
