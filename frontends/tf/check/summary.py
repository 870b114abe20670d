"""What reports on several files come to."""

import dataclasses
from collections import Counter
from collections.abc import Iterable

from frontends.tf.check.findings import Kind
from frontends.tf.check.report import Report


@dataclasses.dataclass(frozen=True)
class Summary:
    """Counts over files.

    Attributes:
        files: scripts and notebooks that were looked at.
        others: those that do not use TensorFlow.
        complete: those that find all their names.
        unreadable: those that could not be read.
        uses: uses of names, in all files.
        present: those of names that exist.
        missing: names that do not exist, and in how many files, the most frequent ones first.
    """

    files: int
    others: int
    complete: int
    unreadable: int
    uses: int
    present: int
    missing: dict[str, int]

    @property
    def runs(self) -> bool:
        """Whether all files find all their names."""
        return self.complete + self.others == self.files


def summarize(reports: Iterable[Report]) -> Summary:
    """Counts.

    Args:
        reports: on all files.
    """
    counts: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    for report in reports:
        counts["files"] += 1
        if not report.is_tensorflow:
            counts["others"] += 1
            continue
        lacking = report.names_with(Kind.MISSING)
        absent = lacking | report.names_with(Kind.OPTIONAL)
        counts["complete"] += report.runs
        counts["unreadable"] += any(one.kind == Kind.UNREADABLE for one in report.findings)
        counts["uses"] += sum(report.names.values())
        counts["present"] += sum(n for name, n in report.names.items() if name not in absent)
        missing.update(lacking)
    ordered = dict(sorted(missing.items(), key=lambda pair: (-pair[1], pair[0])))
    return Summary(
        files=counts["files"],
        others=counts["others"],
        complete=counts["complete"],
        unreadable=counts["unreadable"],
        uses=counts["uses"],
        present=counts["present"],
        missing=ordered,
    )
